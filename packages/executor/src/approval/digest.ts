import type { Json, PreparedCall, Redactor } from '@holdfast/core';
import { decodeJson, digestJson, sha256, toCanonicalJson } from '@holdfast/core/internal';
import type { Session } from '@holdfast/session';
import { policiesFor } from '../call/policies.ts';
import type { RunningCall } from '../call/running-call.ts';
import type { CallScope } from '../call/scope.ts';
import type { CompiledTool } from '../call/types.ts';
import { directCallKey, keyInRun } from './key.ts';

const toolDigests = new WeakMap<CompiledTool, string>();

/** SHA-256 of a tool's declaration and origin; the code of `execute` is covered only by `origin.digest`. */
export function digestTool(compiled: CompiledTool): string | Promise<string> {
  return toolDigests.get(compiled) ?? makeToolDigest(compiled);
}

async function makeToolDigest(compiled: CompiledTool): Promise<string> {
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

/** SHA-256 of everything that an approval covers. */
export async function digestCall(
  { id, tool, facts }: PreparedCall,
  { rawArguments, toolDigest, scope }: DigestedCall,
): Promise<string> {
  const { session, run } = scope;
  // Raw: a schema may produce a different value each time, such as a generated default id.
  const input = readText(rawArguments);
  return digestJson({
    session: session.id,
    run: run === undefined ? null : [run.startSeq, run.turn],
    id,
    input: digestible(input, session),
    tool: toolDigest,
    policies: policiesFor(scope, tool.name).map(({ key }) => key),
    // JSON by construction; TypeScript cannot see that of an interface.
    ...(facts === undefined ? {} : { facts: digestible(facts as unknown as Json, session) }),
  });
}

/** The `idempotencyKey` of a call. */
export function keyOfCall(running: RunningCall): string {
  const { call, source, scope } = running;
  return (
    keyInRun(running) ??
    `${directCallKey(scope.session, call.id)}/${digestArguments(source.arguments, scope.session.redactor)}`
  );
}

/** Distinguishes direct calls with the same id. Excludes secrets: readers of the digest could try to guess them. */
function digestArguments(rawArguments: Json, redactor: Redactor | undefined): string {
  const input = readText(rawArguments);
  return sha256(toCanonicalJson(redactor === undefined ? input : redactor.redact(input))).slice(0, 32);
}

/** Parses the text so that whitespace does not change the question. The text is known to be valid. */
function readText(raw: Json): Json {
  if (typeof raw !== 'string') return raw;
  return raw.trim() === '' ? {} : (decodeJson(raw) as Json);
}

/**
 * The arguments as logged: a digest of more would let readers guess masked values. A keyed digest if the log has no content.
 */
function digestible(input: Json, { redactor, content }: Session): Json {
  if (redactor === undefined) return input;
  const masked = redactor.redact(input);
  return content === 'none' ? (redactor.digest?.(masked) ?? masked) : masked;
}
