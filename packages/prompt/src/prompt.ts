import {
  type BoundPolicy,
  HoldfastError,
  type Policy,
  type Prompt,
  type PromptView,
  type RenderedPrompt,
  type SessionReader,
} from '@holdfast/core';
import { toParameterText } from './parameter-text.ts';
import type { InputOfAll, Section } from './section.ts';
import { createSectionTree, type SectionNode, type SectionTree } from './section-tree.ts';
import { fillTemplate } from './template.ts';
import type { ToolParamDescription } from './tool-parameters.ts';

export interface PromptDefinition<Sections extends readonly Section[]> {
  /** Segments joined by `/`, each matching `^[a-z0-9][a-z0-9._-]{0,63}$`; trimmed and lower-cased. */
  readonly ns: string;
  /** One such segment. */
  readonly key: string;
  readonly sections: Sections;
  /** In force for every tool of the prompt. */
  readonly policies?: readonly Policy[];
}

/** A prompt whose parameters can be bound. It can be rendered at any time that nothing required is missing. */
export interface BindablePrompt<Input = unknown> extends Prompt {
  readonly ns: string;
  readonly key: string;
  /**
   * A prompt with `values` added to what is bound here, replacing values of the same keys. They are read at the first render
   * and must not change after that; `undefined` counts as not bound.
   *
   * @throws HoldfastError `prompt.param.unknown`.
   */
  bind(values: Partial<Input>): BindablePrompt<Input>;
  /**
   * The same object again as long as the same sections are enabled.
   *
   * @throws HoldfastError `prompt.param.missing`, `prompt.param.invalid`, `prompt.param.text`, `section.enabled.invalid`, and
   * what an `enabled` throws.
   */
  render(view?: PromptView): RenderedSections;
}

/** A rendered prompt with what its tools' parameters say. */
export interface RenderedSections extends RenderedPrompt {
  /** By tool and parameter: what the model gets. */
  readonly toolParamDescriptions: ReadonlyMap<string, ReadonlyMap<string, ToolParamDescription>>;
}

const segmentPattern = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/**
 * Makes a prompt of sections. Everything that does not depend on parameters is checked here.
 *
 * @throws HoldfastError `prompt.ns.invalid`, `prompt.key.invalid`, and what is wrong with a section, by its path (codes at
 * `createSectionTree`).
 */
export function createPrompt<const Sections extends readonly Section[]>(
  definition: PromptDefinition<Sections>,
): BindablePrompt<InputOfAll<Sections>> {
  const ns = definition.ns.trim().toLowerCase();
  const key = definition.key.trim().toLowerCase();
  if (!ns.split('/').every((segment) => segmentPattern.test(segment))) {
    throw new HoldfastError(
      'prompt.ns.invalid',
      `The \`ns\` \`${ns}\` must be segments joined by \`/\`, each matching ${segmentPattern.source}.`,
    );
  }
  if (!segmentPattern.test(key)) {
    throw new HoldfastError('prompt.key.invalid', `The \`key\` \`${key}\` must match ${segmentPattern.source}.`);
  }
  const tree = createSectionTree(definition.sections, definition.policies ?? []);
  return bindPrompt({ ns, key, tree }, new Map());
}

interface PromptParts {
  readonly ns: string;
  readonly key: string;
  readonly tree: SectionTree;
}

function bindPrompt<Input>(parts: PromptParts, bound: ReadonlyMap<string, unknown>): BindablePrompt<Input> {
  const { ns, key, tree } = parts;
  // Parameters never change once they are bound, so each section reads them and becomes text once.
  const params = new Map<SectionNode, Readonly<Record<string, unknown>>>();
  const texts = new Map<SectionNode, string>();
  let last: { readonly nodes: readonly SectionNode[]; readonly rendered: RenderedSections } | undefined;

  const paramsOf = (node: SectionNode): Readonly<Record<string, unknown>> => {
    let values = params.get(node);
    if (values === undefined) {
      values = node.params.read(bound);
      params.set(node, values);
    }
    return values;
  };
  const textOf = (node: SectionNode): string => {
    let text = texts.get(node);
    if (text === undefined) {
      text = renderSection(node, paramsOf(node));
      texts.set(node, text);
    }
    return text;
  };
  return Object.freeze({
    name: `${ns}/${key}`,
    ns,
    key,
    bind(values: Partial<Input>) {
      for (const name of Object.keys(values)) {
        if (!tree.paramKeys.has(name)) throw unknownParam(name, tree.paramKeys);
      }
      return bindPrompt<Input>(parts, new Map([...bound, ...Object.entries(values)]));
    },
    render(view?: PromptView) {
      const nodes = collectEnabled(tree.roots, paramsOf, view?.session);
      if (last === undefined || !sameItems(last.nodes, nodes)) {
        last = { nodes, rendered: assemble(nodes, textOf, tree.policies) };
      }
      return last.rendered;
    },
  });
}

function unknownParam(name: string, known: ReadonlySet<string>): HoldfastError {
  const list = known.size === 0 ? 'none' : [...known].map((key) => `\`${key}\``).join(', ');
  return new HoldfastError(
    'prompt.param.unknown',
    `\`${name}\` is no parameter of the prompt. Its parameters: ${list}.`,
    {
      data: { name },
    },
  );
}

/** Enabled sections under enabled ones, depth-first. */
function collectEnabled(
  nodes: readonly SectionNode[],
  paramsOf: (node: SectionNode) => unknown,
  session: SessionReader | undefined,
): readonly SectionNode[] {
  return nodes.flatMap((node) =>
    isEnabled(node, paramsOf, session) ? [node, ...collectEnabled(node.children, paramsOf, session)] : [],
  );
}

function isEnabled(
  node: SectionNode,
  paramsOf: (node: SectionNode) => unknown,
  session: SessionReader | undefined,
): boolean {
  if (node.section.enabled === undefined) return true;
  const answer: unknown = node.section.enabled(paramsOf(node), session);
  // Anything else would be a guess: a promise is always truthy, a forgotten return never.
  if (typeof answer === 'boolean') return answer;
  throw new HoldfastError(
    'section.enabled.invalid',
    `\`enabled\` of section \`${node.path}\` must answer true or false, at once.`,
    { data: { section: node.path } },
  );
}

function renderSection(node: SectionNode, values: Readonly<Record<string, unknown>>): string {
  const body = fillTemplate(node.template, (name) => {
    const text = toParameterText(Object.hasOwn(values, name) ? values[name] : undefined);
    if (text !== undefined) return text;
    throw new HoldfastError(
      'prompt.param.text',
      `The parameter \`${name}\` of section \`${node.path}\` has no text: bind a string, number, boolean, date, null or other JSON.`,
      { data: { section: node.path, name } },
    );
  });
  const blocks = [node.heading, body.replace(/^(?:[ \t]*\n)+/, '').trimEnd(), ...node.examples];
  return blocks.filter((block) => block !== '').join('\n\n');
}

function assemble(
  nodes: readonly SectionNode[],
  textOf: (node: SectionNode) => string,
  allPolicies: readonly BoundPolicy[],
): RenderedSections {
  return Object.freeze({
    text: nodes.map(textOf).join('\n\n'),
    tools: Object.freeze(nodes.flatMap(({ section }) => section.tools)),
    policies: new Map(
      nodes.flatMap(({ section, inForce }) =>
        section.tools.map(({ name }): [string, readonly BoundPolicy[]] => [name, inForce]),
      ),
    ),
    allPolicies,
    toolParamDescriptions: new Map(nodes.flatMap(({ parameterDescriptions }) => [...parameterDescriptions])),
  });
}

function sameItems(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}
