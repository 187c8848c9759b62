/**
 * What secrets of well-known issuers look like. Each expression takes time in proportion to the text, whatever the text: what may
 * repeat without end begins only where a run of its characters does. A group `secret` is masked alone.
 *
 * Source: the issuers' documentation of their formats (AWS IAM identifiers; GitHub, GitLab, Slack, npm, Stripe, OpenAI, Anthropic and
 * Google Cloud key prefixes), RFC 7519 (JSON Web Tokens), RFC 7468 (PEM), RFC 6750 (bearer tokens), RFC 3986 (user information).
 */
export const defaultSecretPatterns: readonly RegExp[] = Object.freeze([
  // AWS access key ids, long-term and temporary.
  /(?:AKIA|ASIA)[A-Z0-9]{16}/,
  // GitHub: personal, OAuth, user-to-server, server-to-server, refresh; fine-grained.
  /gh[pousr]_[A-Za-z0-9]{36,255}/,
  /github_pat_[A-Za-z0-9_]{22,255}/,
  // GitLab: personal, deploy, runner, job, trigger, feed and others.
  /gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-[A-Za-z0-9_-]{20,300}(?:\.[A-Za-z0-9_-]{1,300}){0,3}/,
  // Slack: bot, user, app, refresh, legacy and configuration tokens; webhooks.
  /xox[a-z](?:\.xox[a-z])?-(?=[A-Za-z-]{0,400}[0-9])[A-Za-z0-9-]{10,400}/,
  /xapp-[A-Za-z0-9-]{10,400}/,
  /hooks\.slack\.com\/(?:services|workflows|triggers)\/(?<secret>[A-Za-z0-9_/+-]{20,200})/,
  /npm_[A-Za-z0-9]{36}/,
  // Stripe: secret and restricted keys, webhook secrets.
  /(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,255}/,
  /whsec_[A-Za-z0-9+/=]{20,255}/,
  // OpenAI, Anthropic and those who do it alike.
  /(?<![A-Za-z0-9_-])sk-(?=[A-Za-z_-]{0,400}[0-9])[A-Za-z0-9_-]{20,400}/,
  // Google: API keys, OAuth access tokens and client secrets.
  /AIza[A-Za-z0-9_-]{35}/,
  /(?<![A-Za-z0-9_.-])ya29\.[A-Za-z0-9_-]{20,2000}/,
  /GOCSPX-[A-Za-z0-9_-]{20,60}/,
  // JSON Web Tokens: their header and their content are JSON objects.
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*/,
  // Private keys, also where line ends are escaped and where the end is missing.
  /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[\s\\rn]{0,8}[A-Z][A-Za-z]{1,20}(?:-[A-Z][a-z]{1,20})?: [^\r\n\\]{0,200}){0,4}[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z0-9 ]{1,60}-----)?/,
  /(?<![A-Za-z0-9])[Bb]earer[ \t]{1,8}(?<secret>(?:(?=[A-Za-z._~+/=-]{0,400}[0-9])[A-Za-z0-9._~+/=-]{8,}|[A-Za-z0-9._~+/=-]{20,}))/,
  // A password in a URL.
  /:\/\/[^\s/?#:@"'<>\\]{0,256}:(?<secret>[^\s/?#"'<>\\]{1,1024})@/,
]);

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Makes a function that finds every place of `text` that fits one of `patterns`, in order and apart from each other. */
export function createShapeSearch(patterns: readonly RegExp[]): (text: string) => readonly Span[] {
  const expressions = patterns.map(({ source, flags }) => new RegExp(source, `${flags.replace(/[dgy]/g, '')}dg`));
  return (text) => {
    const spans: Span[] = [];
    for (const expression of expressions) {
      expression.lastIndex = 0;
      for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
        const [start, end] = match.indices?.groups?.['secret'] ?? [match.index, match.index + match[0].length];
        if (end > start) spans.push({ start, end });
        else expression.lastIndex += 1;
      }
    }
    return joined(spans);
  };
}

function joined(spans: readonly Span[]): readonly Span[] {
  const apart: Span[] = [];
  for (const span of [...spans].sort((one, other) => one.start - other.start)) {
    const last = apart.at(-1);
    if (last === undefined || span.start >= last.end) apart.push(span);
    else if (span.end > last.end) apart[apart.length - 1] = { start: last.start, end: span.end };
  }
  return apart;
}
