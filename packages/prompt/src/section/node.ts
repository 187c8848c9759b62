import { HoldfastError, type JsonObject, type Tool, type ToolDeclaration } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { BoundPolicy, ToolExample } from '@holdfast/core/types';
import { compileSchema, describeIssues, type SchemaIssue } from '@holdfast/schema';
import { compileHostSchema } from '@holdfast/schema/internal';
import type { Section, TaskExample, Visibility, VisibilityRule } from './section.ts';
import type { Template } from './template.ts';
import { describeInput, describeType, renderExamples, type ToolParamDescription } from './tools.ts';

/** A section placed in a prompt; independent of parameters and session. */
export interface SectionNode {
  readonly section: Section;
  /** Keys from the root on, joined by `.`. */
  readonly path: string;
  readonly heading: string;
  readonly params: SectionParams;
  readonly template: Template;
  readonly summary: Template | undefined;
  /** `full` without a `summary`. */
  readonly visibility: Visibility | VisibilityRule;
  readonly tools: readonly SectionTool[];
  /** True if the section or one below it, even disabled, has tools. */
  readonly hasTools: boolean;
  readonly taskExamples: readonly RenderedTask[];
  readonly policies: readonly BoundPolicy[];
  /** For calls of the section's own tools: from the outside in, then the prompt's. */
  readonly inForce: readonly BoundPolicy[];
  readonly children: readonly SectionNode[];
}

/** A tool in its section, as described to the model. */
export interface SectionTool {
  readonly tool: Tool;
  readonly declaration: ToolDeclaration;
  /** True if `declaration` differs from the tool's own. */
  readonly overridden: boolean;
  readonly parameterDescriptions: ReadonlyMap<string, ToolParamDescription>;
  /** Examples shown to the model. */
  readonly examples: readonly ToolExample[];
  /** Of `examples`; `''` without any. */
  readonly exampleBlock: string;
}

/** A task example and its text. */
export interface RenderedTask {
  readonly example: TaskExample;
  /** Shown while all of them are offered. */
  readonly tools: readonly string[];
  readonly block: string;
}

const noArguments: JsonObject = Object.freeze({
  type: 'object',
  properties: Object.freeze({}),
  additionalProperties: false,
});

/** @throws HoldfastError `tool.invalid`, and what compiling a schema throws. */
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

/** The parameters of one section. */
export interface SectionParams {
  readonly keys: readonly string[];
  /**
   * Parses the section's own keys among `bound`, with the section's defaults for missing ones.
   *
   * @throws HoldfastError `prompt.invalid`.
   */
  read(bound: ReadonlyMap<string, unknown>): Readonly<Record<string, unknown>>;
}

/**
 * @throws HoldfastError `prompt.invalid`, and what
 * `compileHostSchema` throws.
 */
export function compileParams({ params, defaults }: Pick<Section, 'params' | 'defaults'>, path: string): SectionParams {
  if (params === undefined) {
    checkDefaults(defaults, { path, types: new Map(), issues: [] });
    return none;
  }
  const { jsonSchema, validate } = compileHostSchema(params);
  const { properties } = jsonSchema;
  if (!isPlainObject(properties)) {
    throw new HoldfastError(
      'prompt.invalid',
      `\`params\` of section \`${path}\` must be an object schema with its keys as properties.`,
      { data: { reason: 'params.invalid', section: path } },
    );
  }
  const types = new Map(Object.entries(properties).map(([key, property]) => [key, describeType(property)]));
  const fallbacks = Object.entries(defaults).filter(([, value]) => value !== undefined);
  if (fallbacks.length > 0) {
    const validation = validate(Object.fromEntries(fallbacks));
    checkDefaults(defaults, { path, types, issues: validation.ok ? [] : validation.issues });
  }
  const required = Array.isArray(jsonSchema['required']) ? jsonSchema['required'] : [];
  return {
    keys: [...types.keys()],
    read(bound) {
      const given = new Map(fallbacks);
      for (const key of types.keys()) if (bound.get(key) !== undefined) given.set(key, bound.get(key));
      const missing = required.filter((key) => !given.has(key));
      if (missing.length > 0) {
        const list = missing.map((key) => `\`${key}\` (${types.get(key) ?? 'any'})`).join(', ');
        throw new HoldfastError('prompt.invalid', `Missing parameters of section \`${path}\`: bind ${list}.`, {
          data: { reason: 'param.missing', section: path, missing },
        });
      }
      const validation = validate(Object.fromEntries(given));
      if (!validation.ok) throw invalid(path, describeIssues(validation.issues));
      if (!isPlainObject(validation.value)) throw invalid(path, 'its schema makes no object of them');
      return Object.freeze(validation.value);
    },
  };
}

const none: SectionParams = { keys: [], read: () => Object.freeze({}) };

interface CheckedDefaults {
  readonly path: string;
  readonly types: ReadonlyMap<string, string>;
  /** Schema issues of the defaults, without those about missing parameters. */
  readonly issues: readonly SchemaIssue[];
}

function checkDefaults(defaults: Section['defaults'], { path, types, issues }: CheckedDefaults): void {
  const keys = Object.keys(defaults);
  const unknown = keys.filter((key) => !types.has(key)).map((key) => `\`${key}\` is not one of its parameters`);
  const own = issues.filter((issue) => keys.some((key) => isWithin(issue.path, key)));
  if (unknown.length === 0 && own.length === 0) return;
  const reason = unknown.length > 0 ? unknown.join('; ') : describeIssues(own);
  throw new HoldfastError('prompt.invalid', `Invalid \`defaults\` of section \`${path}\`: ${reason}.`, {
    data: { reason: 'defaults.invalid', section: path },
  });
}

function isWithin(path: string, key: string): boolean {
  return path === key || path.startsWith(`${key}.`) || path.startsWith(`${key}[`);
}

function invalid(path: string, reason: string): HoldfastError {
  return new HoldfastError('prompt.invalid', `Invalid parameters of section \`${path}\`: ${reason}.`, {
    data: { reason: 'param', section: path },
  });
}
