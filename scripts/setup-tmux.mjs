/** The tests of the terminal view are driven in tmux. */
import { spawnSync } from 'node:child_process';
import process from 'node:process';

const isThere = () => spawnSync('tmux', ['-V']).status === 0;

/** Installs it where that is possible without asking; returns null when it is there, else the reason why not. */
export function installTmux() {
  if (isThere()) return null;
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0)
    return 'there is no tmux on this machine';
  console.error('Installing tmux for the tests of the terminal view …');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const install = () =>
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'tmux'], { env, encoding: 'utf8' });
  // The lists of packages may be missing or old.
  if (install().status !== 0) spawnSync('apt-get', ['update'], { env });
  const { stderr = '' } = isThere() ? {} : install();
  return isThere() ? null : `apt-get install tmux failed: ${stderr.trim().split('\n').at(-1)}`;
}
