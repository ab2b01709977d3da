import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { packageRoot } from '../../root.ts';
import { pageOf } from '../docs/html.ts';
import { markdownToHtml } from '../docs/markdown.ts';
import { docsPage } from '../docs/page.ts';
import { style } from '../docs/style.ts';
import type { DescribeApi } from '../openapi.ts';
import { isProblemCode, Problem, problems } from '../problem.ts';
import { type App, openRefusals } from './route.ts';

const styleHash = createHash('sha256').update(style).digest('base64');

/** Pages of ours load nothing and run nothing. */
const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
} as const;

const html = (description: string) => ({
  200: { description, content: { 'text/html': { schema: z.string() } } },
});

/** The description of the interface: for programs, and for people. */
export function docsRoutes(app: App, port: () => number, described: DescribeApi): void {
  app.get('/', { schema: { hide: true } }, (_request, reply) => {
    reply.redirect('/docs', 302);
  });

  app.get(
    '/openapi.json',
    { schema: { tags: ['Documentation'], summary: 'The routes as OpenAPI 3.1', security: [] } },
    async (_request, reply) => reply.send(await described()),
  );

  app.get(
    '/docs',
    { schema: { tags: ['Documentation'], summary: 'The routes for people', security: [], response: html('A page') } },
    async (_request, reply) =>
      reply.headers(pageHeaders).send(docsPage(await described(), `http://127.0.0.1:${port()}`)),
  );

  app.get(
    '/docs/errors/:code',
    {
      schema: {
        tags: ['Documentation'],
        summary: 'What one kind of problem means, and what to do',
        description: 'Markdown, or a page if the request accepts `text/html`.',
        security: [],
        params: z.strictObject({ code: z.string() }),
        response: { ...html('The page'), ...openRefusals('not-found') },
      },
    },
    async (request, reply) => {
      const { code } = request.params;
      if (!isProblemCode(code)) throw new Problem('not-found', 'There is no problem of this kind.');
      const text = await readFile(join(packageRoot(), 'docs', 'errors', `${code}.md`), 'utf8');
      if (!(request.headers.accept ?? '').includes('text/html'))
        return reply.type('text/markdown; charset=utf-8').send(text);
      return reply.headers(pageHeaders).send(pageOf(problems[code].title, markdownToHtml(text)));
    },
  );
}
