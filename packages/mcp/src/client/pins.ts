import { hash } from 'node:crypto';
import type { JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { type McpDefinition, toDefinition } from './definition.ts';
import { type ContentKind, contentKinds, type Listed, type ListedKind, lists } from './lists.ts';

/** A server in its own words, for a person to look at before it is pinned. JSON. */
export interface McpSeen {
  readonly instructions: string | null;
  readonly tools: readonly JsonObject[];
  readonly resources: readonly JsonObject[];
  readonly templates: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
}

/** The definitions that a person has seen, as digests. JSON. */
export interface McpPins {
  /** Of the server's instructions; null without any. */
  readonly instructions: string | null;
  /** By the server's names for its tools. */
  readonly tools: Readonly<Record<string, string>>;
  /** By URI. */
  readonly resources: Readonly<Record<string, string>>;
  /** By the template of their URIs. */
  readonly templates: Readonly<Record<string, string>>;
  readonly prompts: Readonly<Record<string, string>>;
  /** As the server calls itself: another one is withheld whole. Default: any. */
  readonly server?: { readonly name: string; readonly version: string };
}

/** The pins of what a person has seen. */
export function toPins(seen: McpSeen): McpPins {
  const digest = (kind: ListedKind): Record<string, string> =>
    Object.fromEntries(
      seen[kind]
        .map((listed) => toDefinition(listed, lists[kind].id))
        .filter((definition) => definition !== undefined)
        .map(({ name, digest }) => [name, digest]),
    );
  return {
    instructions: seen.instructions === null ? null : hash('sha256', seen.instructions),
    tools: digest('tools'),
    resources: digest('resources'),
    templates: digest('templates'),
    prompts: digest('prompts'),
  };
}

export function toSeen(instructions: string | undefined, listed: Listed): McpSeen {
  const words = (kind: ListedKind): readonly JsonObject[] => listed[kind].map((definition) => definition.listed);
  return {
    instructions: instructions ?? null,
    tools: words('tools'),
    resources: words('resources'),
    templates: words('templates'),
    prompts: words('prompts'),
  };
}

/** Of another server than the pinned one, nothing was seen. */
export function toHolding(pins: McpPins | undefined, now: { name: string; version: string }): McpPins | undefined {
  const { server } = pins ?? {};
  if (server === undefined || (server.name === now.name && server.version === now.version)) return pins;
  return { instructions: null, tools: {}, resources: {}, templates: {}, prompts: {} };
}

/** True if a definition is not the one that was pinned, or was not there. */
export function isUnseen(kind: ListedKind, { name, digest }: McpDefinition, pins: McpPins | undefined): boolean {
  if (pins === undefined) return false;
  const pinned = pins[kind];
  return !Object.hasOwn(pinned, name) || pinned[name] !== digest;
}

export function hasUnseenInstructions(instructions: string | undefined, pins: McpPins | undefined): boolean {
  return pins !== undefined && instructions !== undefined && hash('sha256', instructions) !== pins.instructions;
}

/** Which resources and prompts of a server a person has not seen. */
export class UnseenContent {
  readonly #pins: McpPins | undefined;
  readonly #unseen: Readonly<Record<ContentKind, ReadonlySet<string>>>;
  readonly #seenUris: ReadonlySet<string>;
  readonly #isUnreadable: boolean;

  /** `content`: as the server lists it; `undefined` if it does not give its lists. */
  constructor(content: Omit<Listed, 'tools'> | undefined, pins: McpPins | undefined) {
    const unseen = (kind: ContentKind): ReadonlySet<string> =>
      new Set((content?.[kind] ?? []).filter((one) => isUnseen(kind, one, pins)).map(({ name }) => name));
    this.#pins = pins;
    this.#unseen = { resources: unseen('resources'), templates: unseen('templates'), prompts: unseen('prompts') };
    const uris = (content?.resources ?? []).map(({ name }) => name);
    this.#seenUris = new Set(uris.filter((uri) => !this.#unseen.resources.has(uri)));
    this.#isUnreadable = content === undefined && pins !== undefined;
  }

  /** A resource or prompt that is listed and differs from its pin, or comes by a template that does. */
  has(kind: 'resources' | 'prompts', name: string): boolean {
    if (this.#isUnreadable || this.#unseen[kind].has(name)) return true;
    if (kind === 'prompts' || this.#seenUris.has(name)) return false;
    // A template is not matched, which a server could make slow: what comes before its first variable decides.
    return [...this.#unseen.templates].some((template) => name.startsWith(template.split('{', 1)[0] ?? ''));
  }

  list(kind: ContentKind): readonly string[] {
    return [...this.#unseen[kind]];
  }

  /** A page of a list without what a person has not seen; `isNews` if that was not known before. */
  filter(method: string, page: JsonObject): { readonly page: JsonObject; readonly isNews: boolean } {
    const kind = kindOf(method);
    const all = kind === undefined ? undefined : page[lists[kind].key];
    if (kind === undefined || this.#pins === undefined || !Array.isArray(all)) return { page, isNews: false };
    let isNews = false;
    const kept = all.filter((one) => {
      const definition = isPlainObject(one) ? toDefinition(one as JsonObject, lists[kind].id) : undefined;
      if (definition === undefined || this.#isUnreadable) return false;
      const isKept = !isUnseen(kind, definition, this.#pins);
      isNews ||= !isKept && !this.#unseen[kind].has(definition.name);
      return isKept;
    });
    return { page: kept.length === all.length ? page : { ...page, [lists[kind].key]: kept }, isNews };
  }
}

function kindOf(method: string): ContentKind | undefined {
  return contentKinds.find((kind) => lists[kind].method === method);
}
