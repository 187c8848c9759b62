import { HoldfastError, isHoldfastError, type Json, type JsonObject, type Tool } from '@holdfast/core';
import { type CompiledSchema, compileSchema } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';

/** What a check needs to know of a tool, made ready once. */
export interface ToolFacts {
  readonly tool: Tool;
  /** What does its work, by name. */
  readonly functionName: string;
  readonly input: CompiledSchema;
  readonly output: CompiledSchema | undefined;
  /**
   * The input schema with parts of it left open, compiled once for each way of leaving some open; `undefined`: this cannot be done, and
   * what it would find is found when the call is made.
   */
  relax(schema: JsonObject): CompiledSchema | undefined;
}

const noArguments = jsonSchema({ type: 'object', properties: {}, additionalProperties: false });

/** @throws HoldfastError `tool.name.duplicate`, and what `compileSchema` throws. */
export function createToolTable(
  tools: readonly Tool[],
  functions: ReadonlyMap<string, string>,
): (name: string) => ToolFacts | undefined {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) {
      throw new HoldfastError('tool.name.duplicate', `Two tools are named \`${tool.name}\`: rename or leave out one.`);
    }
    byName.set(tool.name, tool);
  }
  const table = new Map<string, ToolFacts>();
  return (name) => {
    const known = table.get(name);
    if (known !== undefined) return known;
    const tool = byName.get(name);
    if (tool === undefined) return undefined;
    const facts = createFacts(tool, functions.get(name) ?? name);
    table.set(name, facts);
    return facts;
  };
}

function createFacts(tool: Tool, functionName: string): ToolFacts {
  const schema = tool.inputSchema ?? noArguments;
  const draft = 'schema' in schema ? schema.schema['$schema'] : undefined;
  const relaxed = new Map<string, CompiledSchema | undefined>();
  return {
    tool,
    functionName,
    input: compileSchema(schema),
    output: tool.outputSchema === undefined ? undefined : compileSchema(tool.outputSchema),
    relax(open) {
      const key = JSON.stringify(open);
      if (!relaxed.has(key)) relaxed.set(key, compileRelaxed(draft === undefined ? open : { ...open, $schema: draft }));
      return relaxed.get(key);
    },
  };
}

function compileRelaxed(schema: Readonly<Record<string, Json>>): CompiledSchema | undefined {
  try {
    return compileSchema(jsonSchema(schema));
  } catch (thrown) {
    // A reference into a part that was left open, say. Nothing is lost: every call is checked against the whole schema.
    if (isHoldfastError(thrown)) return undefined;
    throw thrown;
  }
}
