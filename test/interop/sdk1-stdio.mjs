/** A legacy-era stdio server as most servers in the wild are built: SDK 1.x, high-level class. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { echoServer } from './sdk1-echo.mjs';

await echoServer().connect(new StdioServerTransport());
