import { deepFreeze, type PlannerTool, type Tool } from '@holdfast/core';
import { createToolTable } from '../check/tool-facts.ts';

/**
 * What a planner is told of `tools`: by name, whatever order they come in, and only those that a plan can call.
 *
 * @throws HoldfastError `tool.name.duplicate`, and what `compileSchema` throws.
 */
export function toPlannerTools(tools: readonly Tool[]): readonly PlannerTool[] {
  const toolNamed = createToolTable(tools, new Map());
  const told: PlannerTool[] = [];
  for (const { name, description, effects, dangerous, execute } of tools) {
    const facts = toolNamed(name);
    if (execute === undefined || facts === undefined) continue;
    const outputSchema = facts.output?.jsonSchema;
    told.push({
      name,
      description,
      inputSchema: facts.input.jsonSchema,
      ...(outputSchema === undefined ? {} : { outputSchema }),
      effects,
      dangerous,
    });
  }
  return deepFreeze(told.sort((left, right) => (left.name < right.name ? -1 : 1)));
}
