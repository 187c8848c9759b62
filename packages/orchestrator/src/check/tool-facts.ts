import { HoldfastError, isHoldfastError, type Json, type JsonObject, type Tool } from '@holdfast/core';
import { type CompiledSchema, compileSchema } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';

/** Facts about a tool, computed once per check. */
export interface ToolFacts {
  readonly tool: Tool;
  /** The name of the function behind the tool. */
  readonly functionName: string;
  readonly input: CompiledSchema;
  readonly output: CompiledSchema | undefined;
  /**
   * Compiles the input schema with some parts left open, once per variant; `undefined` if it does not compile, in which case the call finds
   * any problem.
   */
  relax(schema: JsonObject): CompiledSchema | undefined;
}

const noArguments = jsonSchema({ type: 'object', properties: {}, additionalProperties: false });

/** @throws HoldfastError `tool.invalid`, and what `compileSchema` throws. */
export function createToolTable(
  tools: readonly Tool[],
  functions: ReadonlyMap<string, string>,
): (name: string) => ToolFacts | undefined {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) {
      throw new HoldfastError('tool.invalid', `Two tools are named \`${tool.name}\`. Rename or remove one.`, {
        data: { reason: 'name.duplicate' },
      });
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
    // A reference into an open part, for example. Nothing is lost: each call is checked against the whole schema.
    if (isHoldfastError(thrown)) return undefined;
    throw thrown;
  }
}
