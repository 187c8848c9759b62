import { HoldfastError, isHoldfastError, type KeyedState, type SessionReader } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type { SectionNode } from '../section/node.ts';
import type { Visibility } from '../section/section.ts';
import { fillTemplate, type Template, toParameterText } from '../section/template.ts';
import type { SectionTree } from '../section/tree.ts';
import { readVisibility, visibilitySlice } from '../section/visibility.ts';

/** An enabled section and its visibility. */
export interface ShownSection {
  readonly node: SectionNode;
  readonly visibility: Visibility;
}

/** Sections with their parameters bound. */
export interface BoundSections {
  /**
   * The visible sections, depth-first: enabled ones, without those below a summary unless its path is in `opening`. Returns
   * `before` itself if nothing changed.
   */
  collect(session: SessionReader | undefined, options?: Collecting): readonly ShownSection[];
  /** A section and all enabled sections below it, regardless of visibility. */
  collectUnder(node: SectionNode, session: SessionReader | undefined): readonly SectionNode[];
  /** Its body, filled in. */
  bodyOf(node: SectionNode): string;
  /** Its summary, filled in. */
  summaryOf(node: SectionNode): string;
}

interface Collecting {
  readonly opening?: ReadonlySet<string>;
  readonly before?: readonly ShownSection[] | undefined;
}

type Told = ReadonlyMap<string, Visibility> | undefined;

interface Binding {
  readonly promptId: string;
  readonly tree: SectionTree;
  readonly bound: ReadonlyMap<string, unknown>;
}

/** Bound parameters never change, so each section reads them and fills its texts once. */
export function bindSections({ promptId, tree, bound }: Binding): BoundSections {
  const paramsOf = remember((node) => node.params.read(bound));
  // A disabled section needs no parameters, unless `enabled` reads them.
  const paramsForRule = (node: SectionNode): unknown => {
    try {
      return paramsOf(node);
    } catch (thrown) {
      if (!isMissing(thrown)) throw thrown;
      const fail = (): never => {
        throw thrown;
      };
      return new Proxy({}, { get: fail, has: fail, ownKeys: fail });
    }
  };
  const isEnabled = (node: SectionNode, session: SessionReader | undefined): boolean => {
    if (node.section.enabled === undefined) return true;
    const params = paramsForRule(node);
    const answer = ask(node, 'enabled', () => node.section.enabled?.(params, session));
    // No truthiness: a promise is always truthy, a missing return never.
    if (typeof answer === 'boolean') return answer;
    throw new HoldfastError(
      'section.rule.failed',
      `\`enabled\` of section \`${node.path}\` must return true or false synchronously.`,
      { data: { reason: 'enabled.invalid', section: node.path } },
    );
  };
  let toldLast: { readonly state: KeyedState<Visibility>; readonly told: Told } | undefined;
  const toldBy = (state: KeyedState<Visibility>): Told => {
    // A changed state is a new object.
    if (toldLast?.state !== state) toldLast = { state, told: readVisibility(state, promptId) };
    return toldLast.told;
  };
  const visibilityOf = (node: SectionNode, session: SessionReader | undefined, told: Told): Visibility => {
    if (node.summary === undefined) return 'full';
    const said = told?.get(node.path);
    if (said !== undefined) return said;
    const { visibility } = node;
    if (typeof visibility === 'string') return visibility;
    const params = paramsOf(node);
    const answer = ask(node, 'visibility', () => visibility(params, session));
    if (answer === 'full' || answer === 'summary') return answer;
    throw new HoldfastError(
      'section.rule.failed',
      `\`visibility\` of section \`${node.path}\` must return \`full\` or \`summary\` synchronously.`,
      { data: { reason: 'visibility.invalid', section: node.path } },
    );
  };
  const fill = (node: SectionNode, template: Template): string => {
    const values = paramsOf(node);
    const text = fillTemplate(template, (name) => toText(name, values, node.path));
    return text.replace(/^(?:[ \t]*\n)+/, '').trimEnd();
  };
  return {
    collect(session, { opening, before = [] } = {}) {
      let shown: ShownSection[] | undefined;
      let same = 0;
      // Read only if needed: a run renders again when a slice it read changes.
      const told = tree.hasSummaries && session !== undefined ? toldBy(session.read(visibilitySlice)) : undefined;
      const visit = (nodes: readonly SectionNode[]): void => {
        for (const node of nodes) {
          if (!isEnabled(node, session)) continue;
          const visibility = visibilityOf(node, session, told);
          const known = shown === undefined ? before[same] : undefined;
          if (known?.node === node && known.visibility === visibility) {
            same += 1;
          } else {
            shown ??= before.slice(0, same);
            shown.push({ node, visibility });
          }
          if (visibility === 'full' || opening?.has(node.path) === true) visit(node.children);
        }
      };
      visit(tree.roots);
      return shown ?? (same === before.length ? before : before.slice(0, same));
    },
    collectUnder(top, session) {
      const found: SectionNode[] = [];
      const visit = (node: SectionNode): void => {
        found.push(node);
        for (const child of node.children) if (isEnabled(child, session)) visit(child);
      };
      visit(top);
      return found;
    },
    bodyOf: remember((node) => fill(node, node.template)),
    summaryOf: remember((node) => (node.summary === undefined ? '' : fill(node, node.summary))),
  };
}

/** Calls a rule of the host. @throws HoldfastError `section.rule.failed`. */
function ask(node: SectionNode, rule: 'enabled' | 'visibility', judge: () => unknown): unknown {
  try {
    const answer = judge();
    // An unhandled rejection must not end the process.
    if (typeof answer !== 'boolean' && typeof answer !== 'string') void Promise.allSettled([answer]);
    return answer;
  } catch (cause) {
    if (isMissing(cause)) throw cause;
    throw new HoldfastError(
      'section.rule.failed',
      `\`${rule}\` of section \`${node.path}\` threw: ${describeThrown(cause)}`,
      { data: { section: node.path, rule }, cause },
    );
  }
}

function isMissing(thrown: unknown): boolean {
  return isHoldfastError(thrown) && thrown.code === 'prompt.invalid' && thrown.reason === 'param.missing';
}

function toText(name: string, values: Readonly<Record<string, unknown>>, path: string): string {
  const text = toParameterText(Object.hasOwn(values, name) ? values[name] : undefined);
  if (text !== undefined) return text;
  throw new HoldfastError(
    'prompt.invalid',
    `The parameter \`${name}\` of section \`${path}\` has no text: bind a string, number, boolean, date, null or other JSON.`,
    { data: { reason: 'param.text', section: path, name } },
  );
}

function remember<Value extends {}>(make: (node: SectionNode) => Value): (node: SectionNode) => Value {
  const made = new Map<SectionNode, Value>();
  return (node) => {
    let value = made.get(node);
    if (value === undefined) {
      value = make(node);
      made.set(node, value);
    }
    return value;
  };
}
