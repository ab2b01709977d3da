import { aboutServer, unlessNoDaemon } from '../ask.daemon.ts';
import type { Command } from '../command.ts';
import { doctorDetails, doctorText } from '../doctor.text.ts';
import { exitCode } from '../failure.ts';

export const doctor: Command = {
  description: {
    name: 'doctor',
    group: 'Servers',
    summary: 'find out what is wrong, and what would help',
    arguments: [{ name: '[server]', about: 'only this server' }],
    examples: [
      { line: 'doctor', about: 'all servers and the daemon; exit code 1 when something is wrong' },
      { line: 'doctor github', about: 'one server: the verdict, the rows it rests on, and every check' },
    ],
  },
  async run({ api, files, env }, { positional: [name] }) {
    const found = await unlessNoDaemon(
      api,
      () => (name === undefined ? api.doctor() : aboutServer(api, name, 'doctor', () => api.doctor(name))),
      async (why) => {
        const { offlineDoctor } = await import('../offline.doctor.ts');
        return offlineDoctor(files, env, name, why);
      },
    );
    return {
      kind: 'answer',
      json: found,
      text: (view) => {
        const [only] = found.servers;
        return name !== undefined && only ? doctorDetails(only, view) : doctorText(found, view);
      },
      exit: found.ok ? exitCode.done : exitCode.failed,
      notes:
        name === undefined && found.servers.some(({ ok }) => !ok)
          ? ['More about one: watchkeeper doctor <server>']
          : [],
    };
  },
};
