import { httpClient } from './client.ts';

const [url, token] = [process.env.U as string, process.env.T as string];
const c = await httpClient(`${url}/mcp`, { authorization: `Bearer ${token}` });
let left = 20000;
const t = performance.now();
await Promise.all(
  Array.from({ length: 32 }, async () => {
    while (left-- > 0) await c.call('echo__echo', { text: 'sixteen letters.' });
  }),
);
console.log(20000 / ((performance.now() - t) / 1000));
c.close();
