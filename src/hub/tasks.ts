/**
 * Tasks are not carried: one lives on with its server after the request that made it is over, under an id that another
 * process gave out. So the hub declares none to either side, and a request that asks for one is answered as usual, without
 * it (2025-11-25, tasks: "Task Support and Handling"; io.modelcontextprotocol/tasks in 2026-07-28). Pure.
 */
import { isObject } from '../mcp/message.ts';
import type { Members } from './rpc.ts';

const EXTENSION = 'io.modelcontextprotocol/tasks';

/** What one side declared, without tasks, so that the other makes none. */
export function withoutTasks(capabilities: Members): Members {
  const { extensions } = capabilities;
  const extended = isObject(extensions) && EXTENSION in extensions;
  if (!extended && !('tasks' in capabilities)) return capabilities;
  const { tasks: _, extensions: __, ...rest } = capabilities;
  if (!isObject(extensions)) return rest;
  const { [EXTENSION]: ___, ...others } = extensions;
  return Object.keys(others).length === 0 ? rest : { ...rest, extensions: others };
}

/** A tool as it is listed: whether its server would run it as a task says nothing to a client of the hub. */
export function untasked(definition: Members): Members {
  const { execution, ...rest } = definition;
  if (!isObject(execution) || !('taskSupport' in execution)) return definition;
  const { taskSupport: _, ...others } = execution;
  return Object.keys(others).length === 0 ? rest : { ...rest, execution: others };
}

/** Whether a tool runs in no other way; what it says counts only where its server declares tasks for calls. */
export function runsOnlyAsTask({ execution }: Members, capabilities: Members | null): boolean {
  if (!isObject(execution) || execution.taskSupport !== 'required') return false;
  const requests = isObject(capabilities?.tasks) ? capabilities.tasks.requests : undefined;
  return isObject(requests) && isObject(requests.tools) && isObject(requests.tools.call);
}

/** A server that is told of no tasks and makes one nevertheless. */
export const isTask = ({ resultType }: Members): boolean => resultType === 'task';
