/** The OpenAPI description as one page that a person reads from top to bottom, or jumps about in. */
import type { Described, Operation, Schema } from './described.ts';
import { escapeHtml, inline, pageOf } from './html.ts';
import { shapeText } from './shape.text.ts';

interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** `url` stands in the examples. */
export function docsPage(described: Described, url: string): string {
  const { title, version, description = '' } = described.info;
  const groups = (described.tags ?? [])
    .map((tag) => ({
      ...tag,
      routes: routesOf(described).filter(({ operation }) => operation.tags?.includes(tag.name)),
    }))
    .filter(({ routes }) => routes.length > 0);
  const body = [
    `<h1>${escapeHtml(title)} <small class="note">${escapeHtml(version)}</small></h1>`,
    `<p>${inline(description)} For programs: <a href="/openapi.json">openapi.json</a>.</p>`,
    `<p>Examples use <code>$TOKEN</code>, the content of the file <code>token</code> in the data directory:</p>`,
    `<pre>TOKEN=$(watchkeeper token)</pre>`,
    `<nav>${groups.map(({ name, routes }) => `<h4>${escapeHtml(name)}</h4><ul>${routes.map(linkTo).join('')}</ul>`).join('')}</nav>`,
    ...groups.map(
      (group) =>
        `<section><h2>${escapeHtml(group.name)}</h2><p>${inline(group.description ?? '')}</p>` +
        `${group.routes.map((route) => article(route, url)).join('')}</section>`,
    ),
  ];
  return pageOf(title, body.join('\n'));
}

const routesOf = ({ paths = {} }: Described): Route[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

const anchor = ({ method, path }: Route): string => `${method}-${path}`.replace(/[^A-Za-z0-9]+/g, '-').toLowerCase();

const linkTo = (route: Route): string =>
  `<li><a href="#${anchor(route)}"><code>${route.method} ${escapeHtml(route.path)}</code></a></li>`;

function article(route: Route, url: string): string {
  const { method, path, operation } = route;
  const open = operation.security?.length === 0;
  return [
    `<article id="${anchor(route)}"><h3><code><span class="method">${method}</span> ${escapeHtml(path)}</code></h3>`,
    `<p>${inline(operation.summary ?? '')}.${open ? ' <span class="note">Needs no token.</span>' : ''}</p>`,
    operation.description === undefined ? '' : `<p>${inline(operation.description)}</p>`,
    parameters(operation),
    shown('Body', bodyOf(operation)),
    responses(operation),
    `<h4>Example</h4><pre>${escapeHtml(curl(route, url, open))}</pre></article>`,
  ].join('');
}

function parameters({ parameters: all = [] }: Operation): string {
  if (all.length === 0) return '';
  const rows = all.map(
    (one) =>
      `<tr><td><code>${escapeHtml(one.name)}</code></td><td class="note">${escapeHtml(one.in)}${one.required ? '' : ', optional'}</td>` +
      `<td><code>${escapeHtml(shapeText(one.schema))}</code></td><td>${inline(one.description ?? '')}</td></tr>`,
  );
  return `<h4>Parameters</h4><table>${rows.join('')}</table>`;
}

function responses({ responses: all = {} }: Operation): string {
  const entries = Object.entries(all);
  const good = entries
    .filter(([status]) => status.startsWith('2'))
    .map(([status, { description, content = {} }]) => {
      const schema = content['application/json']?.schema;
      const types = Object.keys(content).join(', ');
      return (
        shown(`${status} ${description}`, schema) ||
        `<h4>${status} ${escapeHtml(description)}</h4><p>${escapeHtml(types)}</p>`
      );
    });
  const rows = entries
    .filter(([status]) => !status.startsWith('2'))
    .map(
      ([status, { description }]) =>
        `<tr><td>${status}</td><td>${description.split(', ').map(errorLink).join(', ')}</td></tr>`,
    );
  return `${good.join('')}${rows.length === 0 ? '' : `<h4>Problems</h4><table>${rows.join('')}</table>`}`;
}

const errorLink = (code: string): string =>
  /^[a-z]+(-[a-z]+)*$/.test(code) ? `<a href="/docs/errors/${code}">${code}</a>` : escapeHtml(code);

const bodyOf = ({ requestBody }: Operation): Schema | undefined => requestBody?.content?.['application/json']?.schema;

const shown = (heading: string, schema: Schema | undefined): string =>
  schema === undefined ? '' : `<h4>${escapeHtml(heading)}</h4><pre>${escapeHtml(shapeText(schema))}</pre>`;

function curl({ method, path, operation }: Route, url: string, open: boolean): string {
  const example = exampleOf(operation);
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${url}${path.replace(/\{(\w+)\}/g, '<$1>')}`,
    ...(open ? [] : ['  -H "Authorization: Bearer $TOKEN"']),
    ...(example === undefined ? [] : ["  -H 'Content-Type: application/json'", `  -d '${JSON.stringify(example)}'`]),
  ].join(' \\\n');
}

/** A body that may be left out is one of several shapes, and the example stands in its own. */
function exampleOf(operation: Operation): unknown {
  const whole = operation.requestBody?.content?.['application/json']?.example;
  return whole ?? bodyOf(operation)?.anyOf?.find(({ examples }) => examples !== undefined)?.examples?.[0];
}
