import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { tags } from './routes/route.ts';

const about: Readonly<Record<(typeof tags)[number], string>> = {
  Daemon: 'The daemon itself.',
  Servers: 'The MCP servers it keeps.',
  Tools: 'What these servers offer.',
  Calls: 'Calling a tool, and what became of calls.',
  Permission: 'Which tools run without asking a person.',
  Log: 'What happened, and when.',
  Documentation: 'This description.',
};

/** How the routes are described as OpenAPI, made from the shapes they check with. */
export const describeApi = (version: string): FastifyDynamicSwaggerOptions => ({
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Watchkeeper',
      version,
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'Times are ISO 8601 in UTC with milliseconds. Bodies are `application/json`, at most 4 MiB. Whatever is no ' +
        'success is answered as `application/problem+json`. Requests over the Unix socket need no token.',
    },
    tags: tags.map((name) => ({ name, description: about[name] })),
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'The content of the file `token` in the data directory.',
        },
      },
    },
    security: [{ token: [] }],
  },
  transform: jsonSchemaTransform,
});
