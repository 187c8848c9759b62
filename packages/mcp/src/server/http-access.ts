import { hash, timingSafeEqual } from 'node:crypto';
import { hostHeaderValidationResponse, originValidationResponse } from '@modelcontextprotocol/server';

/** Which HTTP requests are let in. */
export interface HttpAccess {
  /** Tokens that clients send as `authorization: Bearer TOKEN`, with the principal whose session each one uses. */
  readonly tokens: ReadonlyMap<string, string>;
  /** Host names, without ports, by which the server may be called. A page of another site cannot name one of them. */
  readonly hosts: readonly string[];
  /** Host names of pages that may call. Default: none, so no browser is let in. */
  readonly origins?: readonly string[];
}

/** Whose request it is, or the refusal. */
export function toPrincipal(request: Request, { tokens, hosts, origins = [] }: HttpAccess): string | Response {
  const refused = hostHeaderValidationResponse(request, [...hosts]) ?? originValidationResponse(request, [...origins]);
  if (refused !== undefined) return refused;
  const [, token] = /^Bearer ([\x21-\x7e]+)$/i.exec(request.headers.get('authorization') ?? '') ?? [];
  const known = token === undefined ? undefined : findPrincipal(token, tokens);
  if (known !== undefined) return known;
  return new Response(JSON.stringify({ error: 'A bearer token is required.' }), {
    status: 401,
    headers: { 'content-type': 'application/json', 'www-authenticate': 'Bearer' },
  });
}

/** Compares with each token in constant time. */
function findPrincipal(token: string, tokens: ReadonlyMap<string, string>): string | undefined {
  const given = Buffer.from(hash('sha256', token));
  let found: string | undefined;
  for (const [known, principal] of tokens) {
    if (timingSafeEqual(given, Buffer.from(hash('sha256', known)))) found = principal;
  }
  return found;
}
