/** How things were, read from the log: with a daemon and on the files alone the answers are the same. */
import { describe, expect, it } from 'vitest';
import { runCli, startDaemon } from '../support/daemon.ts';
import { stdioEntry, steered } from '../support/fixtures.ts';

const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' } });

describe('Servers and tools as they were', () => {
  it('are the same without a daemon, and it is said since when nobody has watched', { timeout: 60_000 }, async () => {
    const files = steered({ behaviour: { tools: [tool('read', 'Reads a file.'), tool('drop', 'Drops a table.')] } });
    const daemon = await startDaemon({
      servers: {
        files: stdioEntry(files.options, { exclude: ['drop'] }),
        broken: stdioEntry({ behaviour: { start: { exit: { code: 3, stderr: 'no index' } } } }),
      },
      allow: ['mcp__files__read'],
    });
    await daemon.waitForServer('files', 'ready');
    await daemon.waitForServer('broken', 'backing-off');
    const early = (await daemon.events()).at(-1).position;
    files.set({ tools: [tool('read', 'Reads any file.'), tool('drop', 'Drops a table.')] });
    await daemon.api('POST', '/v1/mcp/reconnect', { name: 'files' });
    await daemon.waitForServer('files', 'ready');
    const late = (await daemon.events()).at(-1).position;

    const lines = [
      ...[1, early, late].flatMap((at) => [`status --at ${at}`, `tools --at ${at}`]),
      `status files --at ${early}`,
      `tools files --at ${late}`,
      'tools --changes',
      `tools --diff --from ${early} --to ${late}`,
    ];
    const ask = async () => {
      const answers: Record<string, { code: number | null; stdout: string }> = {};
      for (const line of lines) {
        const { code, stdout } = await runCli(daemon, [...line.split(' '), '--json']);
        answers[line] = { code, stdout };
      }
      return answers;
    };
    const online = await ask();
    expect(JSON.parse(online[`tools --at ${early}`]?.stdout ?? '')).toMatchObject({
      tools: [{ name: 'mcp__files__read', description: 'Reads a file.', allowed: true }],
    });
    expect(JSON.parse(online[`tools --at ${late}`]?.stdout ?? '')).toMatchObject({
      tools: [{ name: 'mcp__files__read', description: 'Reads any file.', allowed: false }],
    });
    await daemon.stop();
    expect(await ask()).toEqual(online);

    const text = await runCli(daemon, ['status', '--at', String(late)]);
    expect(text.stdout).toMatch(/files +ready +2/);
    expect(text.stderr).toContain('No daemon runs; this is what its log says.');
    const now = await runCli(daemon, ['status', '--at', 'now']);
    expect(now.stdout).toMatch(/files +stopped/);
    expect(now.stderr).toMatch(/none has watched since 20\d\d-/);
    expect(await runCli(daemon, ['status'])).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/No daemon runs/),
    });
  });
});
