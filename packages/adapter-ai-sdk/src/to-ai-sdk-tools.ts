import {
  HoldfastError,
  type InputOfTool,
  type JsonObject,
  type Outcome,
  type PendingApproval,
  type StandardSchema,
  type Tool,
  type ToolCall,
  type ToolDeclaration,
} from '@holdfast/core';
import { toReason } from '@holdfast/core/internal';
import { compileSchema } from '@holdfast/schema';

/**
 * The host's call path: `(call, { signal }) => executeToolCall(call, { ...options, signal })`. The signal comes from
 * the AI SDK call, if it has one.
 */
export type ExecuteCall = (
  call: ToolCall,
  context: { readonly signal?: AbortSignal },
) => Promise<Outcome | { readonly kind: 'suspended'; readonly pending: readonly PendingApproval[] }>;

/**
 * A tool for `generateText` and `streamText` of AI SDK 5, 6 and 7. The schema type of AI SDK 5 cannot be satisfied from
 * outside: there, cast the tools to its `ToolSet`.
 */
export interface AiSdkTool<Input = unknown> {
  readonly description: string;
  readonly inputSchema: AiSdkSchema<Input>;
  execute(
    input: Input,
    call: { readonly toolCallId: string; readonly abortSignal?: AbortSignal | undefined },
  ): Promise<string>;
}

/** The tools by name. Tools given by name keep the types of their inputs. */
export type AiSdkTools<Given> = Given extends readonly Tool[]
  ? Readonly<Record<string, AiSdkTool>>
  : { readonly [Name in keyof Given]: AiSdkTool<InputOfTool<Given[Name]>> };

/** A Standard Schema, for the SDK's types, that is also in the SDK's own format of a plain JSON Schema, for its runtime. */
export interface AiSdkSchema<Input = unknown> extends StandardSchema<Input> {
  readonly jsonSchema: JsonObject;
  readonly validate: undefined;
}

// The symbols by which SDK copies recognize their schemas: 6 and 7 look for the first, 5 for both.
const schemaSymbol = Symbol.for('vercel.ai.schema');
const validatorSymbol = Symbol.for('vercel.ai.validator');

export interface AiSdkToolsOptions {
  readonly execute: ExecuteCall;
  /** Declarations that replace a tool's own, by tool name, e.g. those of a rendered prompt with overrides. */
  readonly declarations?: ReadonlyMap<string, ToolDeclaration> | undefined;
}

/**
 * Converts tools for a program written for the AI SDK; every call goes through `execute`, the host's call path. Takes a list, or an
 * object that names each tool as the tool names itself, for typed inputs: `toAiSdkTools({ refund }, { execute })`.
 *
 * The model gets the outcome's text. Any outcome but `ok` is thrown with its code and text: the SDK turns it into a tool error and shows
 * the model the text. `data` holds `kind` and `callId`. A pending approval is not an error: the model reads that the call waits, and runs
 * once a person has approved it and the host has resumed it.
 *
 * @throws HoldfastError `tool.invalid`, and the errors of compiling a schema.
 */
export function toAiSdkTools<Given extends readonly Tool[] | Readonly<Record<string, Tool>>>(
  tools: Given,
  options: AiSdkToolsOptions,
): AiSdkTools<Given>;
export function toAiSdkTools(
  tools: readonly Tool[] | Readonly<Record<string, Tool>>,
  { execute, declarations }: AiSdkToolsOptions,
): Readonly<Record<string, AiSdkTool>> {
  const result: Record<string, AiSdkTool> = {};
  for (const [key, tool] of Object.entries<Tool>(tools)) {
    const { name } = tool;
    if (!Array.isArray(tools) && key !== name) {
      throw new HoldfastError(
        'tool.invalid',
        `The tool under \`${key}\` is named \`${name}\`; use its name as the key.`,
        {
          data: { reason: 'name.invalid', name },
        },
      );
    }
    if (Object.hasOwn(result, name)) {
      throw new HoldfastError('tool.invalid', `Two tools are named \`${name}\`; rename one of them.`, {
        data: { reason: 'name.duplicate', name },
      });
    }
    result[name] = toAiSdkTool(declarations?.get(name) ?? declare(tool), execute);
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
      if (outcome.kind === 'suspended') return describeWaiting(name, outcome.pending);
      if (outcome.kind === 'ok') return outcome.text;
      throw new HoldfastError(outcome.code ?? 'tool.failed', outcome.text, {
        data: { ...toReason(outcome), kind: outcome.kind, callId: outcome.callId },
      });
    },
  };
}

/** Accepts any value: the call path validates, with messages written for models. */
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

function describeWaiting(name: string, pending: readonly PendingApproval[]): string {
  const reasons = pending.flatMap(({ asks }) => asks.map(({ reason = '' }) => reason)).join(' ');
  return `\`${name}\` has not run yet: it waits for a person's approval, and runs once that is given. Do not call it again. ${reasons}`.trim();
}
