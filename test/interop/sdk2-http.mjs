/** A stateless HTTP server of the modern era, built on SDK 2.x. Prints its URL; `PORT` sets the port, `--dual` serves both eras. */
import { createServer } from 'node:http';
import { localhostHostValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { echoServer } from './sdk2-echo.mjs';

const handle = toNodeHandler(
  createMcpHandler(echoServer, { legacy: process.argv.includes('--dual') ? 'stateless' : 'reject' }),
);
const hostIsLocal = localhostHostValidation();

const http = createServer((request, response) => {
  if (hostIsLocal(request, response)) void handle(request, response);
});

http.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${http.address().port}/mcp`);
});
