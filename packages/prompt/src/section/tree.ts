import { HoldfastError, type Policy, type Schema, type Slice, type Tool } from '@holdfast/core';
import { isOneLine, isPlainObject } from '@holdfast/core/internal';
import type { BoundPolicy } from '@holdfast/core/types';
import { compileParams, type SectionNode, toSectionTool } from './node.ts';
import type { Section } from './section.ts';
import { toRenderedTask } from './task-examples.ts';
import { parseTemplate, type Template } from './template.ts';
import { reservedToolNames } from './visibility.ts';

/** A prompt's sections, checked. */
export interface SectionTree {
  readonly roots: readonly SectionNode[];
  /** The bindable parameters. */
  readonly paramKeys: ReadonlySet<string>;
  /** Depth-first, then the prompt's. */
  readonly policies: readonly BoundPolicy[];
  /** In force for the tools that open and read sections. */
  readonly promptPolicies: readonly BoundPolicy[];
  /** By name, of all sections. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** Of all sections, each once. */
  readonly slices: readonly Slice[];
  /** By path, depth-first. */
  readonly nodes: ReadonlyMap<string, SectionNode>;
  /** True if any section has a summary. */
  readonly hasSummaries: boolean;
}

/** The parts of a prompt that its sections are checked against. */
export interface TreeOptions {
  readonly policies: readonly Policy[];
  /** The schema for outcomes of task examples. */
  readonly output: Schema | undefined;
}

const keyPattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;

// Keys of policies begin with these words where they do not begin with the path of a section.
const reservedRootKeys: ReadonlySet<string> = new Set(['prompt', 'host', 'pack', 'holdfast']);

/**
 * Builds and checks the tree of `sections`, including disabled ones.
 *
 * @throws HoldfastError `prompt.invalid`, `tool.invalid`, `policy.invalid`, and the errors of `compileSchema`.
 */
export function createSectionTree(sections: readonly Section[], { policies, output }: TreeOptions): SectionTree {
  const tools = collectTools(sections);
  const promptPolicies = bindPolicies('prompt', policies);
  const top: Place = { path: '', numbers: [], outer: [], innermost: promptPolicies, tools, output };
  const tree = completeTree(placeAll(sections, top), promptPolicies);
  checkPolicies(tree);
  return tree;
}

/** A tree with other texts: `change` gives each node's next one, whose children are then replaced by their next ones. */
export function mapTree(tree: SectionTree, change: (node: SectionNode) => SectionNode): SectionTree {
  const mapAll = (nodes: readonly SectionNode[]): readonly SectionNode[] =>
    nodes.map((node) => ({ ...change(node), children: mapAll(node.children) }));
  return completeTree(mapAll(tree.roots), tree.promptPolicies);
}

function completeTree(roots: readonly SectionNode[], promptPolicies: readonly BoundPolicy[]): SectionTree {
  const nodes = flatten(roots);
  return {
    roots,
    paramKeys: new Set(nodes.flatMap(({ params }) => params.keys)),
    policies: Object.freeze([...nodes.flatMap((node) => node.policies), ...promptPolicies]),
    promptPolicies,
    tools: new Map(nodes.flatMap((node) => node.tools.map(({ tool }) => [tool.name, tool]))),
    slices: [...new Set(nodes.flatMap(({ section }) => section.slices))],
    nodes: new Map(nodes.map((node) => [node.path, node])),
    hasSummaries: nodes.some(({ summary }) => summary !== undefined),
  };
}

interface Place {
  readonly path: string;
  readonly numbers: readonly number[];
  /** Policies of the sections around. */
  readonly outer: readonly BoundPolicy[];
  /** Policies of the prompt. */
  readonly innermost: readonly BoundPolicy[];
  /** Of the whole prompt. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly output: Schema | undefined;
}

function placeAll(siblings: readonly Section[], parent: Place): readonly SectionNode[] {
  const taken = new Set<string>();
  return siblings.map((section, index) => {
    checkSection(section, parent.path);
    const path = parent.path === '' ? section.key : `${parent.path}.${section.key}`;
    if (taken.has(section.key)) {
      throw new HoldfastError('prompt.invalid', `Two sections are called \`${path}\`: give one another \`key\`.`, {
        data: { reason: 'key.duplicate', section: path },
      });
    }
    taken.add(section.key);
    // Disabled sections are counted, so that no number depends on what is enabled.
    return placeOne(section, { ...parent, path, numbers: [...parent.numbers, index + 1] });
  });
}

function placeOne(section: Section, place: Place): SectionNode {
  const { path, numbers } = place;
  const params = compileParams(section, path);
  const policies = bindPolicies(path, section.policies);
  const outer = [...place.outer, ...policies];
  const children = placeAll(section.children, { ...place, outer });
  return {
    section,
    path,
    heading: `${'#'.repeat(Math.min(numbers.length + 1, 6))} ${numbers.join('.')}. ${section.title} (${path})`,
    params,
    template: parseTemplate(section.template, { names: params.keys, place: `section \`${path}\`` }),
    summary: parseSummary(section, { path, names: params.keys }),
    visibility: section.visibility,
    tools: section.tools.map(toSectionTool),
    hasTools: section.tools.length > 0 || children.some(({ hasTools }) => hasTools),
    taskExamples: section.taskExamples.map((example) => toRenderedTask(example, place)),
    policies,
    inForce: Object.freeze([...outer, ...place.innermost]),
    children,
  };
}

function parseSummary(
  { summary = '', visibility }: Section,
  { path, names }: { readonly path: string; readonly names: readonly string[] },
): Template | undefined {
  if (summary.trim() !== '') return parseTemplate(summary, { names, place: `the summary of section \`${path}\`` });
  if (visibility === 'full') return undefined;
  throw new HoldfastError(
    'prompt.invalid',
    `Section \`${path}\` has a \`visibility\` but no \`summary\`: add a \`summary\` or remove \`visibility\`.`,
    { data: { reason: 'summary.missing', section: path } },
  );
}

function checkSection({ title, key }: Section, parent: string): void {
  const where = parent === '' ? 'at the top' : `under \`${parent}\``;
  // Control characters could steer a terminal or a model.
  if (title === '' || !isOneLine(title)) {
    throw new HoldfastError(
      'prompt.invalid',
      `The title \`${title}\` ${where} must be one line of text without control characters.`,
      { data: { reason: 'title.invalid' } },
    );
  }
  if (!keyPattern.test(key)) {
    throw new HoldfastError(
      'prompt.invalid',
      `The key \`${key}\` of \`${title}\` ${where} must match ${keyPattern.source}: give it a \`key\`.`,
      { data: { reason: 'key.invalid' } },
    );
  }
  if (parent === '' && reservedRootKeys.has(key)) {
    throw new HoldfastError(
      'prompt.invalid',
      `\`${key}\` is a reserved word and cannot be the key of \`${title}\` at the top: give it another \`key\`.`,
      { data: { reason: 'key.reserved' } },
    );
  }
}

function flatten(nodes: readonly SectionNode[]): readonly SectionNode[] {
  return nodes.flatMap((node) => [node, ...flatten(node.children)]);
}

/** Deeper nesting is a mistake of the code that builds the sections. */
const maxDepth = 64;

/**
 * Every tool of `sections` and of those under them, by name.
 *
 * @throws HoldfastError `prompt.invalid` if it is not a section, `tool.invalid`.
 */
function collectTools(sections: readonly Section[]): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>();
  const owners = new Map<string, string>();
  const visit = (siblings: readonly Section[], parent: string, depth: number): void => {
    if (depth > maxDepth && siblings.length > 0) {
      throw new HoldfastError('prompt.invalid', `Sections are nested more than ${maxDepth} levels deep.`, {
        data: { reason: 'too_deep' },
      });
    }
    for (const section of siblings) {
      checkMade(section, parent);
      const path = `${parent}${section.key}`;
      for (const tool of section.tools) {
        checkName(tool.name, path, owners.get(tool.name));
        owners.set(tool.name, path);
        tools.set(tool.name, tool);
      }
      visit(section.children, `${path}.`, depth + 1);
    }
  };
  visit(sections, '', 1);
  return tools;
}

/** Hosts without types may pass anything. */
function checkMade(section: unknown, parent: string): void {
  if (isPlainObject(section) && typeof section['template'] === 'string' && Array.isArray(section['children'])) return;
  const where = parent === '' ? 'at the top' : `under \`${parent.slice(0, -1)}\``;
  throw new HoldfastError('prompt.invalid', `Invalid section ${where}: create it with \`markdownSection\`.`);
}

function checkName(name: string, path: string, owner: string | undefined): void {
  if (owner !== undefined) {
    throw new HoldfastError(
      'tool.invalid',
      `The tool \`${name}\` is in section \`${owner}\` and in section \`${path}\`: a prompt offers each name once.`,
      { data: { reason: 'name.duplicate', name, sections: [owner, path] } },
    );
  }
  if (reservedToolNames.has(name)) {
    throw new HoldfastError(
      'tool.invalid',
      `\`${name}\` in section \`${path}\` is the name of a built-in prompt tool: rename the tool.`,
      { data: { reason: 'name.reserved', name, section: path } },
    );
  }
}

/** Adds the state keys to the policies of one place. */
function bindPolicies(place: string, policies: readonly Policy[]): readonly BoundPolicy[] {
  return Object.freeze(policies.map((policy) => Object.freeze({ key: `${place}/${policy.id}`, policy })));
}

/** @throws HoldfastError `policy.invalid`. */
function checkPolicies({ policies, tools, hasSummaries }: SectionTree): void {
  const keys = new Set<string>();
  for (const { key, policy } of policies) {
    if (keys.has(key)) {
      throw new HoldfastError('policy.invalid', `Two policies are called \`${key}\`: give one another \`id\`.`, {
        data: { reason: 'key.duplicate', policy: key },
      });
    }
    keys.add(key);
    const unknown = policy.mentions.filter(
      (name) => !tools.has(name) && !(hasSummaries && reservedToolNames.has(name)),
    );
    if (unknown.length > 0) {
      const list = unknown.map((name) => `\`${name}\``).join(', ');
      throw new HoldfastError('policy.invalid', `The policy \`${key}\` mentions ${list}, which no section offers.`, {
        data: { reason: 'tool.unknown', policy: key, tools: unknown },
      });
    }
  }
}
