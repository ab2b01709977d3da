/** Every command, in the order of the help. */
import type { Command } from './command.ts';
import { add } from './commands/add.ts';
import { allow } from './commands/allow.ts';
import { approvals } from './commands/approvals.ts';
import { approve } from './commands/approve.ts';
import { backup } from './commands/backup.ts';
import { bundle } from './commands/bundle.ts';
import { call } from './commands/call.ts';
import { changes } from './commands/changes.ts';
import { clients } from './commands/clients.ts';
import { configCheck } from './commands/config.check.ts';
import { configFix } from './commands/config.fix.ts';
import { configPath } from './commands/config.path.ts';
import { configSchema } from './commands/config.schema.ts';
import { configTrust } from './commands/config.trust.ts';
import { connect } from './commands/connect.ts';
import { deny } from './commands/deny.ts';
import { disable } from './commands/disable.ts';
import { disconnect } from './commands/disconnect.ts';
import { doctor } from './commands/doctor.ts';
import { down } from './commands/down.ts';
import { enable } from './commands/enable.ts';
import { fixtureExport } from './commands/fixture.export.ts';
import { fixtureServe } from './commands/fixture.serve.ts';
import { history } from './commands/history.ts';
import { importServers } from './commands/import.ts';
import { ledgerClose } from './commands/ledger.close.ts';
import { ledgerShow } from './commands/ledger.show.ts';
import { ledger } from './commands/ledger.ts';
import { ledgerVerify } from './commands/ledger.verify.ts';
import { log } from './commands/log.ts';
import { login } from './commands/login.ts';
import { logout } from './commands/logout.ts';
import { mcp } from './commands/mcp.ts';
import { rebuild } from './commands/rebuild.ts';
import { reconnect } from './commands/reconnect.ts';
import { record } from './commands/record.ts';
import { remove } from './commands/remove.ts';
import { replay } from './commands/replay.ts';
import { status } from './commands/status.ts';
import { sync } from './commands/sync.ts';
import { test } from './commands/test.ts';
import { token } from './commands/token.ts';
import { tools } from './commands/tools.ts';
import { tui } from './commands/tui.ts';
import { up } from './commands/up.ts';
import { version } from './commands/version.ts';
import { why } from './commands/why.ts';

export const commands: readonly Command[] = [
  up,
  down,
  token,
  tui,
  version,
  status,
  doctor,
  add,
  remove,
  enable,
  disable,
  reconnect,
  record,
  test,
  login,
  logout,
  tools,
  call,
  mcp,
  approvals,
  approve,
  deny,
  allow,
  changes,
  ledger,
  ledgerShow,
  ledgerClose,
  clients,
  connect,
  sync,
  disconnect,
  importServers,
  log,
  history,
  why,
  bundle,
  fixtureExport,
  fixtureServe,
  replay,
  ledgerVerify,
  configCheck,
  configPath,
  configSchema,
  configFix,
  configTrust,
  rebuild,
  backup,
];
