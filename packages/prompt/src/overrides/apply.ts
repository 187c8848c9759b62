import { defineTool, type Json, type JsonObject, type Schema, type Tool } from '@holdfast/core';
import { deepFreeze, describeThrown, isPlainObject } from '@holdfast/core/internal';
import { compileSchema, describeIssues } from '@holdfast/schema';
import * as v from 'valibot';
import type { SectionNode, SectionTool } from '../section/node.ts';
import { toRenderedTask } from '../section/task-examples.ts';
import { parseTemplate } from '../section/template.ts';
import { describeInput, renderExamples } from '../section/tools.ts';
import type { OverrideEntry } from './document.ts';

/** The changed target of an override, or why it does not fit. */
export type Fitted<Target> =
  | { readonly ok: true; readonly value: Target }
  | { readonly ok: false; readonly why: string };

/** The parts of a prompt that overrides are checked against. */
export interface OverrideSurroundings {
  /** Of the whole prompt. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly output: Schema | undefined;
}

/** Applies an override to a section. Apply `summary` before `visibility`, which may need it. */
export function overrideSection(
  node: SectionNode,
  { place, override }: OverrideEntry,
  surroundings: OverrideSurroundings,
): Fitted<SectionNode> {
  const parse = (text: string) => parseTemplate(text, { names: node.params.keys, place: `section \`${node.path}\`` });
  switch (place.part) {
    case 'body':
      return fit(() => ({ ...node, template: parse(String(override)) }));
    case 'summary': {
      if (String(override).trim() === '') return refuse('a summary must not be blank');
      return fit(() => ({ ...node, summary: parse(String(override)) }));
    }
    case 'visibility': {
      if (override !== 'full' && override !== 'summary') return refuse('it must be `full` or `summary`');
      if (override === 'summary' && node.summary === undefined) return refuse('the section has no summary to show');
      return { ok: true, value: { ...node, visibility: override } };
    }
    default:
      return fit(() => {
        const examples = read(taskExamples, override);
        const place = { path: node.path, ...surroundings };
        return {
          ...node,
          taskExamples: examples.map((example) =>
            toRenderedTask(example as Parameters<typeof toRenderedTask>[0], place),
          ),
        };
      });
  }
}

/** Applies an override to the declaration of a tool. The tool itself is unchanged. */
export function overrideTool(shown: SectionTool, { place, override }: OverrideEntry): Fitted<SectionTool> {
  const { tool, declaration } = shown;
  switch (place.part) {
    case 'description':
      return fit(() => {
        const { name, origin } = tool;
        // Runs the checks of tool descriptions.
        const { description } = defineTool({
          name,
          description: String(override),
          ...(origin === undefined ? {} : { origin }),
        });
        return { ...shown, overridden: true, declaration: Object.freeze({ ...declaration, description }) };
      });
    case 'examples':
      return fit(() => {
        const examples = read(toolExamples, override);
        return { ...shown, examples, exampleBlock: renderExamples({ ...tool, examples }) };
      });
    default:
      return overrideParameter(shown, place.part.slice('parameters.'.length), String(override).trim());
  }
}

const maxParameterDescription = 4_096;

function overrideParameter(shown: SectionTool, name: string, description: string): Fitted<SectionTool> {
  if (description.length < 1 || description.length > maxParameterDescription) {
    return refuse(`it must have 1 to ${maxParameterDescription} characters, got ${description.length}`);
  }
  const { declaration } = shown;
  const { properties } = declaration.inputSchema;
  if (!isPlainObject(properties) || !Object.hasOwn(properties, name) || !isPlainObject(properties[name])) {
    return refuse('the schema of the parameter has no place for a description');
  }
  const changed = { ...properties[name], description };
  const inputSchema: JsonObject = deepFreeze({
    ...declaration.inputSchema,
    properties: Object.fromEntries(Object.entries(properties).map(([key, own]) => [key, key === name ? changed : own])),
  });
  return {
    ok: true,
    value: {
      ...shown,
      overridden: true,
      declaration: Object.freeze({ ...declaration, inputSchema }),
      parameterDescriptions: describeInput(inputSchema),
    },
  };
}

const toolExamples = v.array(
  v.object({
    description: v.pipe(v.string(), v.regex(/\S/), v.maxLength(200)),
    input: v.unknown(),
    output: v.unknown(),
  }),
);
// Each is checked when it is rendered.
const taskExamples = v.array(v.unknown());

function read<Value>(schema: Schema<Value>, override: Json): Value {
  const validation = compileSchema(schema).validate(override);
  if (validation.ok) return validation.value;
  throw new TypeError(describeIssues(validation.issues));
}

/** Turns a thrown check into a refusal. */
function fit<Target>(make: () => Target): Fitted<Target> {
  try {
    return { ok: true, value: make() };
  } catch (thrown) {
    return refuse(describeThrown(thrown).replace(/\.$/, ''));
  }
}

function refuse(why: string): { readonly ok: false; readonly why: string } {
  return { ok: false, why };
}
