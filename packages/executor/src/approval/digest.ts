import type { Json, PreparedCall, Redactor } from '@holdfast/core';
import { decodeJson, digestJson, sha256, toCanonicalJson } from '@holdfast/core/internal';
import type { Session } from '@holdfast/session';
import { policiesFor } from '../call/authorize.ts';
import type { CallScope } from '../call/scope.ts';
import type { CompiledTool } from '../call/types.ts';

const toolDigests = new WeakMap<CompiledTool, string>();

/** The digest of a tool, where it has been computed already. */
export function knownToolDigest(compiled: CompiledTool): string | undefined {
  return toolDigests.get(compiled);
}

/** SHA-256 of all that is declared about a tool and of where its code came from; what `execute` does is only known by `origin.digest`. */
export async function digestTool(compiled: CompiledTool): Promise<string> {
  const known = toolDigests.get(compiled);
  if (known !== undefined) return known;
  const { tool, declaration, output } = compiled;
  const digest = await digestJson({
    ...declaration,
    outputSchema: output?.jsonSchema ?? null,
    effects: tool.effects,
    repeat: tool.repeat,
    dangerous: tool.dangerous,
    ...(tool.retry === undefined ? {} : { retry: { ...tool.retry } }),
    origin: tool.origin === undefined ? null : { ...tool.origin },
  });
  toolDigests.set(compiled, digest);
  return digest;
}

interface DigestedCall {
  readonly rawArguments: Json;
  readonly toolDigest: string;
  readonly scope: CallScope;
}

/** SHA-256 of everything that an answer about a call is about. */
export async function digestCall(
  { id, tool, facts }: PreparedCall,
  { rawArguments, toolDigest, scope }: DigestedCall,
): Promise<string> {
  const { session, run } = scope;
  // As they came: what a schema makes of them may be another each time, a default that is an id for one.
  const input = readText(rawArguments);
  return digestJson({
    session: session.id,
    run: run === undefined ? null : [run.startSeq, run.turn],
    id,
    input: digestible(input, session),
    tool: toolDigest,
    policies: policiesFor(scope, tool.name).map(({ key }) => key),
    // Made of JSON; an interface does not say so to the compiler.
    ...(facts === undefined ? {} : { facts: digestible(facts as unknown as Json, session) }),
  });
}

/** What tells a direct call from others of its id. Without the secrets in it: those who see it could try what they may be. */
export function digestArguments(rawArguments: Json, redactor: Redactor | undefined): string {
  const input = readText(rawArguments);
  return sha256(toCanonicalJson(redactor === undefined ? input : redactor.redact(input))).slice(0, 32);
}

/** What a text says, so that its spaces make no other question. It has been parsed before. */
function readText(raw: Json): Json {
  if (typeof raw !== 'string') return raw;
  return raw.trim() === '' ? {} : (decodeJson(raw) as Json);
}

/**
 * What the log has of the arguments: a digest of more would let its readers try what a mask stands for. Where it has none of them, a
 * keyed digest.
 */
function digestible(input: Json, { redactor, content }: Session): Json {
  if (redactor === undefined) return input;
  const masked = redactor.redact(input);
  return content === 'none' ? (redactor.digest?.(masked) ?? masked) : masked;
}
