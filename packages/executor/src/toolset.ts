import { HoldfastError, isPlainObject, type JsonObject, type Tool, type ToolDeclaration } from '@holdfast/core';
import { type CompiledSchema, checkToolExamples, compileSchema } from '@holdfast/schema';

/** A tool with everything that is derived from it, derived once. */
export interface CompiledTool {
  readonly tool: Tool;
  /** `undefined`: the tool takes no arguments. */
  readonly input: CompiledSchema | undefined;
  readonly output: CompiledSchema | undefined;
  /** What a model is offered. */
  readonly declaration: ToolDeclaration;
}

/** The tools of a run by name. */
export interface CompiledTools {
  readonly byName: ReadonlyMap<string, CompiledTool>;
  readonly declarations: readonly ToolDeclaration[];
}

const noArguments: JsonObject = Object.freeze({
  type: 'object',
  properties: Object.freeze({}),
  additionalProperties: false,
});
const compiledTools = new WeakMap<Tool, CompiledTool>();
const toolsets = new WeakMap<readonly Tool[], { readonly tools: readonly Tool[]; readonly toolset: CompiledTools }>();

/**
 * Compiles a list of tools, once for each list.
 *
 * @throws HoldfastError `tool.name.duplicate`, `tool.input.not_object`, `tool.example.invalid`, and what compiling a schema throws.
 */
export function compileTools(tools: readonly Tool[]): CompiledTools {
  const known = toolsets.get(tools);
  // A list that was changed since is compiled again.
  if (known?.tools.length === tools.length && known.tools.every((tool, at) => tool === tools[at])) return known.toolset;
  const byName = new Map<string, CompiledTool>();
  for (const tool of tools) {
    if (!isTool(tool)) {
      throw new HoldfastError('options.invalid', '`tools` must be a list of tools: make each by `defineTool`.', {
        data: { reason: 'kind', option: 'tools' },
      });
    }
    if (byName.has(tool.name)) {
      throw new HoldfastError('tool.name.duplicate', `Two tools are named \`${tool.name}\`; rename one of them.`, {
        data: { name: tool.name },
      });
    }
    byName.set(tool.name, compileTool(tool));
  }
  // Every request has the same list, whoever gets it.
  const toolset = { byName, declarations: Object.freeze([...byName.values()].map(({ declaration }) => declaration)) };
  toolsets.set(tools, { tools: [...tools], toolset });
  return toolset;
}

function compileTool(tool: Tool): CompiledTool {
  const known = compiledTools.get(tool);
  if (known !== undefined) return known;
  const input = tool.inputSchema === undefined ? undefined : compileSchema(tool.inputSchema);
  const inputSchema = input?.jsonSchema ?? noArguments;
  if (!describesObject(inputSchema)) {
    throw new HoldfastError('tool.input.not_object', `The input schema of \`${tool.name}\` must describe an object.`, {
      data: { name: tool.name },
    });
  }
  checkToolExamples(tool);
  const compiled: CompiledTool = {
    tool,
    input,
    output: tool.outputSchema === undefined ? undefined : compileSchema(tool.outputSchema),
    declaration: Object.freeze({ name: tool.name, description: tool.description, inputSchema }),
  };
  compiledTools.set(tool, compiled);
  return compiled;
}

function isTool(value: unknown): boolean {
  return isPlainObject(value) && typeof value['name'] === 'string' && Array.isArray(value['examples']);
}

function describesObject(schema: JsonObject): boolean {
  if (schema['type'] !== undefined) return schema['type'] === 'object';
  return ['properties', 'allOf', 'anyOf', 'oneOf', '$ref'].some((keyword) => Object.hasOwn(schema, keyword));
}
