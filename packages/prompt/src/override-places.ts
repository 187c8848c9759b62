import type { Json, JsonObject, ToolExample } from '@holdfast/core';
import type { OverridePlace } from './override-document.ts';
import type { TaskExample } from './section.ts';
import type { SectionNode, SectionTool } from './section-node.ts';
import type { SectionTree } from './section-tree.ts';

/** What can be overridden in a prompt, as it is now. */
export interface PromptPlace {
  readonly place: OverridePlace;
  /** A text is a string; `null`: there is nothing. */
  readonly current: Json;
  /** Why it must stay as it is, if it must. */
  readonly locked?: string;
}

/** All places of a prompt, its sections depth-first and then its tools in order. */
export function listPlaces({ nodes }: SectionTree): readonly PromptPlace[] {
  const sections = [...nodes.values()];
  return [...sections.flatMap(listOfSection), ...sections.flatMap(({ tools }) => tools.flatMap(listOfTool))];
}

function listOfSection({ section, path, template, summary, visibility, taskExamples }: SectionNode): PromptPlace[] {
  const parts: readonly Part[] = [
    { part: 'body', current: template.text },
    { part: 'summary', current: summary?.text ?? null },
    typeof visibility === 'string'
      ? { part: 'visibility', current: visibility }
      : { part: 'visibility', current: null, locked: 'a function of the prompt decides it' },
    { part: 'taskExamples', current: toList(taskExamples.map(({ example }) => toTaskJson(example))) },
  ];
  return parts.map(({ part, ...rest }) => ({
    place: { section: path, part },
    ...rest,
    ...(section.acceptsOverrides ? {} : { locked: 'the section accepts no overrides' }),
  }));
}

function listOfTool({ tool, declaration, parameterDescriptions, examples }: SectionTool): PromptPlace[] {
  const parts: readonly Part[] = [
    { part: 'description', current: declaration.description },
    // No document can have that key.
    ...[...parameterDescriptions]
      .filter(([name]) => name !== '__proto__')
      .map(([name, { description = null }]) => ({
        part: `parameters.${name}`,
        current: description,
      })),
    { part: 'examples', current: toList(examples.map(toExampleJson)) },
  ];
  return parts.map(({ part, ...rest }) => ({
    place: { tool: tool.name, part },
    ...rest,
    ...(tool.acceptsOverrides ? {} : { locked: 'the tool accepts no overrides' }),
  }));
}

type Part = Omit<PromptPlace, 'place'> & { readonly part: string };

function toList(items: readonly Json[]): Json {
  return items.length === 0 ? null : items;
}

function toExampleJson({ description, input, output }: ToolExample): JsonObject {
  // Both were found to be JSON when the tool met the prompt.
  return { description, input: input as Json, output: output as Json };
}

function toTaskJson({ objective, steps, outcome }: TaskExample): JsonObject {
  return {
    objective,
    steps: steps.map(({ tool, description, input, output }) => ({ tool, description, input, output })),
    outcome,
  };
}
