/** Ends a run with one line that can be read by a program: `12 passed, 0 failed`, with `, 1 skipped` when there are any. */
import { writeSync } from 'node:fs';
import type { Reporter, SerializedError, TestCase, TestModule, Vitest } from 'vitest/node';

interface Tally {
  passed: number;
  failed: number;
  readonly skipped: { title: string; reason: string }[];
}

function count(module: TestModule, tally: Tally): void {
  const suitesThatBroke = [module, ...module.children.allSuites()].filter((suite) => suite.errors().length > 0);
  tally.failed += suitesThatBroke.length;
  for (const test of module.children.allTests()) countTest(test, module, tally);
}

function countTest(test: TestCase, module: TestModule, tally: Tally): void {
  const result = test.result();
  if (result.state === 'passed') tally.passed += 1;
  else if (result.state === 'failed') tally.failed += 1;
  else {
    const reason = (result.state === 'skipped' ? result.note : undefined) ?? 'no reason given';
    tally.skipped.push({ title: `${module.relativeModuleId} > ${test.fullName}`, reason });
  }
}

export function closingLine({ passed, failed, skipped }: { passed: number; failed: number; skipped: number }): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

export default class ClosingLineReporter implements Reporter {
  #vitest: Vitest | undefined;
  #line: string | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
    if (vitest.config.watch) return;
    // Other reporters and vitest itself still write after the run has ended; this is later than all of them.
    process.on('exit', () => {
      if (this.#line !== undefined) writeSync(1, `${this.#line}\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const tally: Tally = { passed: 0, failed: unhandled.length, skipped: [] };
    for (const module of modules) count(module, tally);
    this.#sayWhatWasSkipped(tally.skipped);
    this.#line = closingLine({ ...tally, skipped: tally.skipped.length });
  }

  /** A filter by name skips nearly everything; then there is nothing to say. */
  #sayWhatWasSkipped(skipped: Tally['skipped']): void {
    if (this.#vitest?.config.testNamePattern !== undefined) return;
    for (const { title, reason } of skipped) process.stdout.write(`skipped: ${title}: ${reason}\n`);
  }
}
