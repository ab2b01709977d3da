import type { Described } from './docs/described.ts';
import type { App } from './routes/route.ts';

/** The routes as OpenAPI 3.1. */
export type DescribeApi = () => Promise<Described>;

/** Made from the routes when it is first asked for, and kept. `addRoutes` adds the routes to an app that only describes them. */
export function describedOnce(version: string, addRoutes: (app: App) => void): DescribeApi {
  let made: Promise<Described> | undefined;
  return () => {
    made ??= import('./openapi.document.ts').then(({ describeRoutes }) => describeRoutes(version, addRoutes));
    return made;
  };
}
