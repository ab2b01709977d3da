/** Every client that is known, in the order in which they are shown. */
import type { ClientDescriptor } from './descriptor.ts';
import { antigravity } from './known/antigravity.ts';
import { claudeCode } from './known/claude-code.ts';
import { claudeDesktop } from './known/claude-desktop.ts';
import { cline } from './known/cline.ts';
import { codex } from './known/codex.ts';
import { copilotCli } from './known/copilot-cli.ts';
import { crush } from './known/crush.ts';
import { cursor } from './known/cursor.ts';
import { geminiCli } from './known/gemini-cli.ts';
import { goose } from './known/goose.ts';
import { junie } from './known/junie.ts';
import { kiro } from './known/kiro.ts';
import { lmStudio } from './known/lm-studio.ts';
import { opencode } from './known/opencode.ts';
import { vscode } from './known/vscode.ts';
import { windsurf } from './known/windsurf.ts';
import { zed } from './known/zed.ts';

export const knownClients: readonly ClientDescriptor[] = [
  claudeCode,
  claudeDesktop,
  cursor,
  vscode,
  copilotCli,
  windsurf,
  geminiCli,
  antigravity,
  codex,
  kiro,
  opencode,
  crush,
  zed,
  cline,
  goose,
  lmStudio,
  junie,
];

/** Other words people use for a client. */
const alsoCalled: Readonly<Record<string, string>> = {
  claude: 'claude-code',
  copilot: 'copilot-cli',
  gemini: 'gemini-cli',
  code: 'vscode',
  'vs-code': 'vscode',
  lmstudio: 'lm-studio',
};

export function clientCalled(word: string): ClientDescriptor | undefined {
  const id = word.toLowerCase();
  return knownClients.find((client) => client.id === (alsoCalled[id] ?? id));
}
