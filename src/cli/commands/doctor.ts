import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { aboutServer, unlessNoDaemon } from '../ask.daemon.ts';
import type { Command, Context } from '../command.ts';
import { doctorDetails, doctorText } from '../doctor.text.ts';
import { exitCode } from '../failure.ts';

/** null where no client is connected. */
async function connectedClients(context: Context) {
  if (!existsSync(join(context.files.dataDir, 'clients.json'))) return null;
  return (await import('../doctor.clients.ts')).examineClients(context);
}

export const doctor: Command = {
  description: {
    name: 'doctor',
    group: 'Servers',
    summary: 'find out what is wrong, and what would help',
    arguments: [{ name: '[server]', about: 'only this server' }],
    examples: [
      {
        line: 'doctor',
        about: 'all servers, the daemon and connected AI clients; exit code 1 when something is wrong',
      },
      { line: 'doctor github', about: 'one server: the verdict, the rows it rests on, and every check' },
    ],
  },
  async run(context, { positional: [name] }) {
    const { api, files, env } = context;
    const found = await unlessNoDaemon(
      api,
      () => (name === undefined ? api.doctor() : aboutServer(api, name, 'doctor', () => api.doctor(name))),
      async (why) => {
        const { offlineDoctor } = await import('../offline.doctor.ts');
        return offlineDoctor(files, env, name, why);
      },
    );
    const clients = name === undefined ? await connectedClients(context) : null;
    const ok = found.ok && clients?.ok !== false;
    return {
      kind: 'answer',
      json: clients === null ? found : { ...found, ok, clients: clients.json },
      text: (view) => {
        const [only] = found.servers;
        if (name !== undefined && only) return doctorDetails(only, view);
        const about = clients?.text(view) ?? '';
        return `${doctorText(found, view)}${about === '' ? '' : `\n${about}`}`;
      },
      ...(clients?.warning && !context.json ? { warning: clients.warning } : {}),
      exit: ok ? exitCode.done : exitCode.failed,
      notes:
        name === undefined && found.servers.some(({ ok }) => !ok)
          ? ['More about one: watchkeeper doctor <server>']
          : [],
    };
  },
};
