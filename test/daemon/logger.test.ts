import { describe, expect, it, vi } from 'vitest';
import { createLogger, readable } from '../../src/daemon/logger.ts';

/** What a logger writes to stderr while `use` runs. */
function written(
  options: Parameters<typeof createLogger>[0],
  use: (logger: ReturnType<typeof createLogger>) => void,
): string {
  const lines: string[] = [];
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => lines.push(String(chunk)) > 0);
  try {
    use(createLogger(options));
  } finally {
    stderr.mockRestore();
  }
  return lines.join('');
}

describe('The log of the daemon', () => {
  it('is one JSON object a line where nobody watches', () => {
    const text = written({ level: 'info', terminal: false }, (logger) => {
      logger.warn({ server: 'a', phase: 'list' }, 'no answer');
      logger.info('second');
    });
    const lines = text.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 40,
      server: 'a',
      phase: 'list',
      msg: 'no answer',
      pid: process.pid,
    });
  });

  it('is words on a terminal', () => {
    const text = written({ level: 'info', terminal: true }, (logger) => {
      logger.warn({ server: 'a', tries: 3, list: ['x'] }, 'no answer');
    });
    expect(text).toMatch(/^\d\d:\d\d:\d\d warn {2}no answer server=a tries=3 list=\["x"\]\n$/);
  });

  it.each([
    ['debug', 4],
    ['info', 3],
    ['warn', 2],
    ['error', 1],
  ])('says as much as is asked for: %s', (level, count) => {
    const text = written({ level, terminal: false }, (logger) => {
      logger.debug('d');
      logger.info('i');
      logger.warn('w');
      logger.error('e');
    });
    expect(text.trimEnd().split('\n')).toHaveLength(count);
  });

  it('says nothing of the machine it runs on', () => {
    expect(written({ level: 'info', terminal: false }, (logger) => logger.info('x'))).not.toContain('hostname');
  });
});

describe('A line for people', () => {
  it.each([
    [{ level: 30, time: 0, msg: 'Stopping.' }, 'info  Stopping.'],
    [{ level: 60, time: 0, msg: 'x', err: { message: 'y' } }, 'fatal x err={"message":"y"}'],
    [{ level: 35, time: 0 }, '35    '],
    [{ level: 40, time: 0, msg: 'm', pid: 1, hostname: 'h', server: 'a' }, 'warn  m server=a'],
  ])('%j', (line, expected) => {
    expect(readable(JSON.stringify(line)).slice('00:00:00 '.length)).toBe(`${expected}\n`);
  });
});
