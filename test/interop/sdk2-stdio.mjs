/** A stdio server of the modern era, built on SDK 2.x. `--dual` makes it answer the legacy handshake too. */
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { echoServer } from './sdk2-echo.mjs';

serveStdio(echoServer, { legacy: process.argv.includes('--dual') ? 'serve' : 'reject' });
