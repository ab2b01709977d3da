/** Makes the description of the interface. Loaded when somebody asks for it: what it needs is as large as the rest of the HTTP side. */
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { fastify } from 'fastify';
import { jsonSchemaTransform, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Described } from './docs/described.ts';
import { type App, tags } from './routes/route.ts';
import { schemaController } from './schema.controller.ts';

const about: Readonly<Record<(typeof tags)[number], string>> = {
  Daemon: 'The daemon itself.',
  Servers: 'The MCP servers it keeps.',
  Logins: 'Logging in to servers that want it, and out again.',
  Tools: 'What these servers offer.',
  Calls: 'Calling a tool, and what became of calls.',
  Permission: 'Which tools run without asking a person.',
  Log: 'What happened, and when.',
  Documentation: 'This description.',
};

/** How the routes are described as OpenAPI, made from the shapes they check with. */
const describeApi = (version: string): FastifyDynamicSwaggerOptions => ({
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

/** The routes as OpenAPI, from an app of its own that never listens. `addRoutes` gives it the routes to describe. */
export async function describeRoutes(version: string, addRoutes: (app: App) => void): Promise<Described> {
  const app: App = fastify({ exposeHeadRoutes: true, schemaController }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(() => JSON.stringify);
  await app.register(swagger, describeApi(version));
  addRoutes(app);
  await app.ready();
  const described = app.swagger() as unknown as Described;
  await app.close();
  return described;
}
