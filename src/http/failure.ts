/** Turns whatever was thrown into what the caller is told. */
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { Problem } from './problem.ts';

/** Never holds a value of the request, nor the words of an error we did not write. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (hasZodFastifySchemaValidationErrors(error)) return shapeProblem(error);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new Problem('body-too-large', 'The body is larger than 4 MiB.');
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return new Problem('unsupported-media-type', 'A body must be application/json.');
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH')
    return new Problem('invalid-request', 'The body is not as long as Content-Length says.');
  return new Problem('internal', 'Something went wrong inside the daemon; its log has the details.');
}

interface ShapeError {
  readonly validation: readonly { readonly instancePath: string; readonly message?: string }[];
  readonly validationContext?: string | undefined;
}

const most = 5;
const where: Readonly<Record<string, string>> = { querystring: 'query', params: 'path', headers: 'header' };

function shapeProblem({ validation, validationContext = 'body' }: ShapeError): Problem {
  const part = where[validationContext] ?? validationContext;
  const issues = validation.map(({ instancePath, message }) => ({
    in: part,
    path: instancePath
      .split('/')
      .filter((step) => step !== '')
      .join('.'),
    message: message ?? 'Invalid input',
  }));
  const told = issues.slice(0, most).map(({ path, message }) => `${path === '' ? '' : `${path}: `}${message}`);
  const more = issues.length > most ? ` (and ${issues.length - most} more)` : '';
  return new Problem('invalid-request', `In the ${part}: ${told.join('; ')}${more}.`, {
    issues: issues.slice(0, most),
  });
}
