import { type BoundPolicy, HoldfastError, type Policy } from '@holdfast/core';
import type { Section } from './section.ts';
import { compileParams, type SectionParams } from './section-params.ts';
import { parseTemplate, type Template } from './template.ts';
import { renderExamples } from './tool-examples.ts';
import { describeParameters, type ToolParamDescription } from './tool-parameters.ts';

/** A section in its place in a prompt, with all that no parameter and no session can change. */
export interface SectionNode {
  readonly section: Section;
  /** Keys from the root on, joined by `.`. */
  readonly path: string;
  readonly heading: string;
  readonly params: SectionParams;
  readonly template: Template;
  /** One block for each tool that has examples. */
  readonly examples: readonly string[];
  readonly parameterDescriptions: ReadonlyMap<string, ReadonlyMap<string, ToolParamDescription>>;
  readonly policies: readonly BoundPolicy[];
  /** For calls of the section's own tools: from the outside in, then the prompt's. */
  readonly inForce: readonly BoundPolicy[];
  readonly children: readonly SectionNode[];
}

/** A prompt's sections, checked. */
export interface SectionTree {
  readonly roots: readonly SectionNode[];
  /** What may be bound. */
  readonly paramKeys: ReadonlySet<string>;
  /** Depth-first, then the prompt's. */
  readonly policies: readonly BoundPolicy[];
}

const keyPattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;

// Keys of policies begin with these words where they do not begin with the path of a section.
const reservedRootKeys: ReadonlySet<string> = new Set(['prompt', 'host', 'pack', 'holdfast']);

// The tools with which a model opens and reads sections.
const reservedToolNames: ReadonlySet<string> = new Set(['open_sections', 'read_section']);

/**
 * Puts `sections` in their places and checks them, disabled ones too.
 *
 * @throws HoldfastError `section.title.invalid`, `section.key.invalid`, `section.key.reserved`, `section.key.duplicate`,
 * `section.params.invalid`, `section.placeholder.invalid`, `section.placeholder.unknown`, `tool.name.reserved`,
 * `tool.name.duplicate`, `tool.example.invalid`, `policy.key.duplicate`, `policy.tool.unknown`, and what `compileSchema` throws.
 */
export function createSectionTree(sections: readonly Section[], promptPolicies: readonly Policy[]): SectionTree {
  const innermost = bindPolicies('prompt', promptPolicies);
  const roots = placeAll(sections, { path: '', numbers: [], outer: [], innermost });
  const nodes = flatten(roots);
  const policies = [...nodes.flatMap((node) => node.policies), ...innermost];
  checkPolicies(policies, collectToolNames(nodes));
  return { roots, paramKeys: new Set(nodes.flatMap(({ params }) => params.keys)), policies };
}

interface Place {
  readonly path: string;
  readonly numbers: readonly number[];
  /** Policies of the sections around. */
  readonly outer: readonly BoundPolicy[];
  /** Policies of the prompt. */
  readonly innermost: readonly BoundPolicy[];
}

function placeAll(siblings: readonly Section[], parent: Place): readonly SectionNode[] {
  const taken = new Set<string>();
  return siblings.map((section, index) => {
    checkSection(section, parent.path);
    const path = parent.path === '' ? section.key : `${parent.path}.${section.key}`;
    if (taken.has(section.key)) {
      throw new HoldfastError(
        'section.key.duplicate',
        `Two sections are called \`${path}\`: give one another \`key\`.`,
        {
          data: { section: path },
        },
      );
    }
    taken.add(section.key);
    // Disabled sections are counted, so that no number depends on what is enabled.
    return placeOne(section, { ...parent, path, numbers: [...parent.numbers, index + 1] });
  });
}

function placeOne(section: Section, place: Place): SectionNode {
  const { path, numbers } = place;
  const params = compileParams(section.params, path);
  const policies = bindPolicies(path, section.policies);
  const outer = [...place.outer, ...policies];
  return {
    section,
    path,
    heading: `${'#'.repeat(Math.min(numbers.length + 1, 6))} ${numbers.join('.')}. ${section.title} (${path})`,
    params,
    template: parseTemplate(section.template, { names: params.keys, place: `section \`${path}\`` }),
    examples: section.tools.map(renderExamples).filter((block) => block !== ''),
    parameterDescriptions: new Map(section.tools.map((tool) => [tool.name, describeParameters(tool)])),
    policies,
    inForce: Object.freeze([...outer, ...place.innermost]),
    children: placeAll(section.children, { ...place, outer }),
  };
}

function checkSection({ title, key }: Section, parent: string): void {
  const where = parent === '' ? 'at the top' : `under \`${parent}\``;
  if (title === '' || /[\r\n]/.test(title)) {
    throw new HoldfastError('section.title.invalid', `The title \`${title}\` ${where} must be one line of text.`);
  }
  if (!keyPattern.test(key)) {
    throw new HoldfastError(
      'section.key.invalid',
      `The key \`${key}\` of \`${title}\` ${where} must match ${keyPattern.source}: give it a \`key\`.`,
    );
  }
  if (parent === '' && reservedRootKeys.has(key)) {
    throw new HoldfastError(
      'section.key.reserved',
      `\`${key}\` is a reserved word and cannot be the key of \`${title}\` at the top: give it another \`key\`.`,
    );
  }
}

function flatten(nodes: readonly SectionNode[]): readonly SectionNode[] {
  return nodes.flatMap((node) => [node, ...flatten(node.children)]);
}

function collectToolNames(nodes: readonly SectionNode[]): ReadonlySet<string> {
  const owners = new Map<string, string>();
  for (const { section, path } of nodes) {
    for (const { name } of section.tools) {
      const owner = owners.get(name);
      if (owner !== undefined) {
        throw new HoldfastError(
          'tool.name.duplicate',
          `The tool \`${name}\` is in section \`${owner}\` and in section \`${path}\`: a prompt offers each name once.`,
          { data: { name, sections: [owner, path] } },
        );
      }
      if (reservedToolNames.has(name)) {
        throw new HoldfastError(
          'tool.name.reserved',
          `\`${name}\` in section \`${path}\` is the name of a tool that prompts bring themselves.`,
          { data: { name, section: path } },
        );
      }
      owners.set(name, path);
    }
  }
  return new Set(owners.keys());
}

function bindPolicies(place: string, policies: readonly Policy[]): readonly BoundPolicy[] {
  return policies.map((policy) => Object.freeze({ key: `${place}/${policy.id}`, policy }));
}

function checkPolicies(policies: readonly BoundPolicy[], toolNames: ReadonlySet<string>): void {
  const keys = new Set<string>();
  for (const { key, policy } of policies) {
    if (keys.has(key)) {
      throw new HoldfastError('policy.key.duplicate', `Two policies are called \`${key}\`: give one another \`id\`.`, {
        data: { policy: key },
      });
    }
    keys.add(key);
    const unknown = policy.tools.filter((name) => !toolNames.has(name));
    if (unknown.length > 0) {
      const list = unknown.map((name) => `\`${name}\``).join(', ');
      throw new HoldfastError(
        'policy.tool.unknown',
        `The policy \`${key}\` mentions ${list}, which no section offers.`,
        {
          data: { policy: key, tools: unknown },
        },
      );
    }
  }
}
