import {
  HoldfastError,
  type JsonObject,
  type Outcome,
  type PendingApproval,
  type StandardSchema,
  type Tool,
  type ToolCall,
  type ToolDeclaration,
} from '@holdfast/core';
import { compileSchema } from '@holdfast/schema';

/**
 * The call path, handed in by the host: `(call, { signal }) => executeToolCall(call, { ...options, signal })`. The signal is the
 * one of the AI SDK's call, and absent when that has none.
 */
export type ExecuteCall = (
  call: ToolCall,
  context: { readonly signal?: AbortSignal },
) => Promise<Outcome | { readonly kind: 'suspended'; readonly pending: readonly PendingApproval[] }>;

/**
 * A tool as `generateText` and `streamText` of the AI SDK 5, 6 and 7 take it. The types of AI SDK 5 name no schema that others
 * could make: there, cast the object of tools to its `ToolSet`.
 */
export interface AiSdkTool {
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
  execute(
    input: unknown,
    call: { readonly toolCallId: string; readonly abortSignal?: AbortSignal | undefined },
  ): Promise<string>;
}

/** A Standard Schema, which the types of the SDK ask for, in the SDK's own form of a plain JSON Schema, which it looks for. */
export interface AiSdkSchema extends StandardSchema {
  readonly jsonSchema: JsonObject;
  readonly validate: undefined;
}

// How the SDK knows its own schemas, across its copies: 6 and 7 look for the first, 5 for both.
const schemaSymbol = Symbol.for('vercel.ai.schema');
const validatorSymbol = Symbol.for('vercel.ai.validator');

export interface AiSdkToolsOptions {
  readonly execute: ExecuteCall;
  /** By tool name, where the model is told other than the tool says: those of a rendered prompt, for its overrides. */
  readonly declarations?: ReadonlyMap<string, ToolDeclaration> | undefined;
}

/**
 * Gives tools to a program written for the AI SDK; every call goes through `execute`, which is the call path that the host chose.
 *
 * The model gets the outcome's text. Anything but `ok`, an unanswered approval too, is thrown with the outcome's code and text:
 * the SDK turns it into a tool error and shows the model the text, so that it can do better. `data` holds `kind` and `callId`.
 *
 * @throws HoldfastError `tool.name.duplicate`, and what compiling a schema throws.
 */
export function toAiSdkTools(
  tools: readonly Tool[],
  { execute, declarations }: AiSdkToolsOptions,
): Readonly<Record<string, AiSdkTool>> {
  const result: Record<string, AiSdkTool> = {};
  for (const tool of tools) {
    if (Object.hasOwn(result, tool.name)) {
      throw new HoldfastError('tool.name.duplicate', `Two tools are named \`${tool.name}\`; rename one of them.`, {
        data: { name: tool.name },
      });
    }
    result[tool.name] = toAiSdkTool(declarations?.get(tool.name) ?? declare(tool), execute);
  }
  return result;
}

const noArguments: JsonObject = { type: 'object', properties: {}, additionalProperties: false };

function declare({ name, description, inputSchema }: Tool): ToolDeclaration {
  return {
    name,
    description,
    inputSchema: inputSchema === undefined ? noArguments : compileSchema(inputSchema).jsonSchema,
  };
}

function toAiSdkTool({ name, description, inputSchema }: ToolDeclaration, execute: ExecuteCall): AiSdkTool {
  return {
    description,
    inputSchema: toSchema(inputSchema),
    async execute(input, { toolCallId, abortSignal }) {
      const call: ToolCall = { id: toolCallId, name, arguments: input };
      const outcome = await execute(call, abortSignal === undefined ? {} : { signal: abortSignal });
      if (outcome.kind === 'suspended') throw waiting(name, toolCallId, outcome.pending);
      if (outcome.kind === 'ok') return outcome.text;
      throw new HoldfastError(outcome.code ?? 'tool.failed', outcome.text, {
        data: { kind: outcome.kind, callId: outcome.callId },
      });
    },
  };
}

/** Lets everything pass: the call path validates, and its reasons are for models. */
function toSchema(jsonSchema: JsonObject): AiSdkSchema {
  const standard = {
    version: 1,
    vendor: 'holdfast',
    validate: (value: unknown) => ({ value }),
    jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
  } as const;
  const marks = { [schemaSymbol]: true, [validatorSymbol]: true };
  return { ...marks, '~standard': standard, jsonSchema, validate: undefined };
}

function waiting(name: string, callId: string, pending: readonly PendingApproval[]): HoldfastError {
  const reasons = pending
    .flatMap(({ asks }) => asks.map(({ reason = '' }) => reason))
    .filter((reason) => reason !== '');
  return new HoldfastError(
    'approval.pending',
    `\`${name}\` was not run: it waits for a person's approval. ${reasons.join(' ')}`.trim(),
    { data: { kind: 'suspended', callId } },
  );
}
