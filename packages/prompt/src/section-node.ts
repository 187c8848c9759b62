import type { BoundPolicy, JsonObject, Tool, ToolDeclaration, ToolExample } from '@holdfast/core';
import { compileSchema } from '@holdfast/schema';
import type { Section, TaskExample, Visibility, VisibilityRule } from './section.ts';
import type { SectionParams } from './section-params.ts';
import type { Template } from './template.ts';
import { renderExamples } from './tool-examples.ts';
import { describeInput, type ToolParamDescription } from './tool-parameters.ts';

/** A section in its place in a prompt, with all that no parameter and no session can change. */
export interface SectionNode {
  readonly section: Section;
  /** Keys from the root on, joined by `.`. */
  readonly path: string;
  readonly heading: string;
  readonly params: SectionParams;
  readonly template: Template;
  readonly summary: Template | undefined;
  /** `full` where there is no `summary`. */
  readonly visibility: Visibility | VisibilityRule;
  readonly tools: readonly SectionTool[];
  /** Whether the section or one under it, disabled ones too, has tools. */
  readonly hasTools: boolean;
  readonly taskExamples: readonly RenderedTask[];
  readonly policies: readonly BoundPolicy[];
  /** For calls of the section's own tools: from the outside in, then the prompt's. */
  readonly inForce: readonly BoundPolicy[];
  readonly children: readonly SectionNode[];
}

/** A tool in its section, as a model is told of it. */
export interface SectionTool {
  readonly tool: Tool;
  readonly declaration: ToolDeclaration;
  /** Whether `declaration` is other than the tool itself says. */
  readonly overridden: boolean;
  readonly parameterDescriptions: ReadonlyMap<string, ToolParamDescription>;
  /** What the model is shown of how it is called. */
  readonly examples: readonly ToolExample[];
  /** Of `examples`; `''` without any. */
  readonly exampleBlock: string;
}

/** A task example and its text. */
export interface RenderedTask {
  readonly example: TaskExample;
  /** It is shown while all of them are offered. */
  readonly tools: readonly string[];
  readonly block: string;
}

const noArguments: JsonObject = Object.freeze({
  type: 'object',
  properties: Object.freeze({}),
  additionalProperties: false,
});

/** @throws HoldfastError `tool.example.invalid`, and what compiling a schema throws. */
export function toSectionTool(tool: Tool): SectionTool {
  const inputSchema = tool.inputSchema === undefined ? noArguments : compileSchema(tool.inputSchema).jsonSchema;
  return {
    tool,
    declaration: Object.freeze({ name: tool.name, description: tool.description, inputSchema }),
    overridden: false,
    parameterDescriptions: describeInput(inputSchema),
    examples: tool.examples,
    exampleBlock: renderExamples(tool),
  };
}
