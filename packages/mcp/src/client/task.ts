import { HoldfastError, isHoldfastError, type JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { readText } from './definition.ts';

const defaultPollMs = 1_000;
const shortestPollMs = 10;
const longestPollMs = 30_000;

type Send = (method: string, params: JsonObject) => Promise<JsonObject>;

interface TaskOptions {
  /** Our name for the server. */
  readonly server: string;
  readonly signal: AbortSignal;
  /** Without the signal: after the call has stopped, too. */
  readonly cancel: Send;
  progress(message: string): void;
}

/** True for a tool that a server of 2025 runs only as a task. */
export function needsTask({ execution }: JsonObject): boolean {
  return isPlainObject(execution) && execution['taskSupport'] === 'required';
}

/**
 * Calls a tool as a task, and polls it until it has ended or the call must stop, which cancels it.
 *
 * @throws HoldfastError `tool.process.lost` for a task that the server no longer knows or has cancelled: it may have taken effect.
 */
export async function runTask(send: Send, params: JsonObject, options: TaskOptions): Promise<JsonObject> {
  const created = await send('tools/call', { ...params, task: {} });
  const id = isPlainObject(created['task']) ? created['task']['taskId'] : undefined;
  // A server that answers at once has made no task.
  if (typeof id !== 'string') return created;
  const { server, signal, cancel, progress } = options;
  const cancelTask = (): void => {
    // The server may have gone, or the task ended: the call is in doubt already.
    cancel('tasks/cancel', { taskId: id }).catch(() => undefined);
  };
  signal.addEventListener('abort', cancelTask);
  try {
    const status = await poll(send, created['task'] as JsonObject, { server, signal, progress });
    if (status === 'cancelled') throw lost(server, id, 'was cancelled by the server');
    return await send('tasks/result', { taskId: id }).catch((thrown: unknown) => {
      // The error of a task that failed is its result.
      throw status === 'failed' ? thrown : toLost(thrown, server, id);
    });
  } finally {
    signal.removeEventListener('abort', cancelTask);
  }
}

/** The status in which the result can be asked for; a task that waits for input asks for it there. */
async function poll(
  send: Send,
  first: JsonObject,
  { server, signal, progress }: Omit<TaskOptions, 'cancel'>,
): Promise<string> {
  let task = first;
  let said: string | undefined;
  for (;;) {
    const { taskId, status, statusMessage, pollInterval } = task;
    const id = String(taskId);
    if (status !== 'working') return String(status);
    const message = readText(statusMessage);
    if (message !== undefined && message !== said) progress(message);
    said = message;
    const asked = typeof pollInterval === 'number' ? pollInterval : defaultPollMs;
    await pause(Math.min(Math.max(asked, shortestPollMs), longestPollMs), signal);
    const next = await send('tasks/get', { taskId: id }).catch((thrown: unknown) => {
      throw toLost(thrown, server, id);
    });
    task = { ...next, taskId: id };
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** A server that answers with an error does not know the task; whether it has taken effect is not known either. */
function toLost(thrown: unknown, server: string, id: string): unknown {
  const isSaid = isHoldfastError(thrown) && thrown.code === 'mcp.error';
  return isSaid ? lost(server, id, 'is not known to the server any more', thrown) : thrown;
}

function lost(server: string, id: string, what: string, cause?: unknown): HoldfastError {
  return new HoldfastError(
    'tool.process.lost',
    `The task \`${id.slice(0, 200)}\` of the MCP server \`${server}\` ${what}.`,
    { data: { server, task: id }, ...(cause === undefined ? {} : { cause }) },
  );
}
