import { HoldfastError, type JsonObject, type Tool, type ToolDeclaration } from '@holdfast/core';
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
export interface Toolset {
  readonly byName: ReadonlyMap<string, CompiledTool>;
  readonly declarations: readonly ToolDeclaration[];
}

const noArguments: JsonObject = Object.freeze({
  type: 'object',
  properties: Object.freeze({}),
  additionalProperties: false,
});
const compiledTools = new WeakMap<Tool, CompiledTool>();
const toolsets = new WeakMap<readonly Tool[], { readonly tools: readonly Tool[]; readonly toolset: Toolset }>();

/**
 * Compiles a list of tools, once for each list.
 *
 * @throws HoldfastError `tool.name.duplicate`, `tool.input.not_object`, `tool.example.invalid`, and what compiling a schema throws.
 */
export function toToolset(tools: readonly Tool[]): Toolset {
  const known = toolsets.get(tools);
  // A list that was changed since is compiled again.
  if (known?.tools.length === tools.length && known.tools.every((tool, at) => tool === tools[at])) return known.toolset;
  const byName = new Map<string, CompiledTool>();
  for (const tool of tools) {
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

function describesObject(schema: JsonObject): boolean {
  if (schema['type'] !== undefined) return schema['type'] === 'object';
  return ['properties', 'allOf', 'anyOf', 'oneOf', '$ref'].some((keyword) => Object.hasOwn(schema, keyword));
}

/** Up to three names that are spelled most like `name`, nearest first. */
export function nearestNames(name: string, names: Iterable<string>): string[] {
  const wanted = name.slice(0, 64).toLowerCase();
  return [...names]
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate) }))
    .filter(({ candidate, distance }) => distance <= Math.max(2, candidate.length / 2))
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

// Levenshtein distance, one row at a time.
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let left = 1; left <= from.length; left += 1) {
    const next = [left];
    for (let right = 1; right <= to.length; right += 1) {
      const replaced = (row[right - 1] ?? 0) + (from[left - 1] === to[right - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[right] ?? 0) + 1, (next[right - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
