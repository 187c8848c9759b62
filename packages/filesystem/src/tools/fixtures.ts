import type {
  Filesystem,
  FilesystemReader,
  StagedResource,
  StandardSchema,
  Tool,
  ToolContext,
  ToolResult,
} from '@holdfast/core';
import { isToolResult } from '@holdfast/core/internal';
import { fileTools } from './file-tools.ts';

/** The result of a test call, with the text for a model. */
export interface TestOutcome {
  readonly result: ToolResult;
  readonly rendered: string;
  /** The keys that the transaction of the call has read. */
  readonly reads: readonly string[];
}

export interface TestCall {
  /** Default: plenty of time. */
  readonly remainingMs?: number;
  readonly signal?: AbortSignal;
}

/** Runs one file tool in its own call, as the executor would: commits a success and discards anything else. */
export async function callTool(
  resource: StagedResource<Filesystem, FilesystemReader> | undefined,
  name: string,
  input: unknown,
  { remainingMs = 1e9, signal = new AbortController().signal }: TestCall = {},
): Promise<TestOutcome> {
  const tool = fileTools().find((candidate) => candidate.name === name);
  if (tool?.execute === undefined) throw new Error(`Unknown tool ${name}.`);
  const transaction = resource?.begin('c1');
  const context: ToolContext = {
    callId: 'c1',
    idempotencyKey: 'c1',
    signal,
    deadline: { atMs: remainingMs, remainingMs: () => remainingMs },
    session: {
      read: unused,
      dispatch: () => undefined,
      publish: () => undefined,
    },
    resources: new Map(transaction === undefined ? [] : [['filesystem', transaction.view]]),
    filesystem: transaction?.view,
    use: unused,
    call: unused,
    child: unused,
    budget: undefined,
    prompt: undefined,
    renderedPrompt: undefined,
    model: undefined,
    trace: undefined,
    progress: () => undefined,
    begin: async () => undefined,
    beat: () => undefined,
  };
  const reads = () => transaction?.touched().reads.map(({ key }) => key) ?? [];
  const result = await tool.execute(await validate(tool.inputSchema, input), context);
  if (!isToolResult(result)) throw new Error('A file tool must return a tool result.');
  if (result.success) {
    const value = await validate(tool.outputSchema, result.value);
    await transaction?.prepare();
    await transaction?.commit();
    return { result, rendered: tool.renderResult?.(value) ?? JSON.stringify(value), reads: reads() };
  }
  await transaction?.discard();
  return { result, rendered: '', reads: reads() };
}

function unused(): never {
  throw new Error('File tools must use only files.');
}

async function validate(schema: Tool['inputSchema'], value: unknown): Promise<unknown> {
  if (!isStandardSchema(schema)) throw new Error('File tools must have Valibot schemas.');
  const result = await schema['~standard'].validate(value);
  if (result.issues !== undefined) throw new Error(result.issues.map(({ message }) => message).join('; '));
  return result.value;
}

function isStandardSchema(schema: Tool['inputSchema']): schema is StandardSchema {
  return schema !== undefined && '~standard' in schema;
}
