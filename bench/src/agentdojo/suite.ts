import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Json, JsonObject } from '@holdfast/core';

/** A call as a script has it, with the result it gets. */
export interface ScriptedCall {
  readonly name: string;
  readonly args: JsonObject;
  readonly result: Json;
  readonly error?: Json;
  /** The places in the result where an outsider writes. */
  readonly slots?: readonly string[];
}

/** Tasks of users and of attackers over the same tools. */
export interface Suite {
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  /** The harmless text of each slot. */
  readonly vectors: Readonly<Record<string, string>>;
  readonly users: readonly {
    readonly id: string;
    readonly prompt: string;
    readonly calls: readonly ScriptedCall[];
    /** The same task when nobody attacks. */
    readonly benign: readonly ScriptedCall[];
  }[];
  readonly injections: readonly {
    readonly id: string;
    readonly goal: string;
    readonly calls: readonly ScriptedCall[];
  }[];
}

const folder = fileURLToPath(new URL('../../../../shared/data/agentdojo/', import.meta.url));

/** The suites of AgentDojo; `undefined` where the data is missing. */
export function readSuites(): ReadonlyMap<string, Suite> | undefined {
  const names = ['workspace', 'banking'];
  if (!names.every((name) => existsSync(`${folder}${name}.json`))) return undefined;
  return new Map(names.map((name) => [name, JSON.parse(readFileSync(`${folder}${name}.json`, 'utf8')) as Suite]));
}
