/** Tokens that begin with an issuer's prefix at the start of a word. One expression needs one pass. */
const prefixed = [
  'AGE-SECRET-KEY-1[A-Z0-9]{58}',
  // Atlassian.
  'ATATT3[A-Za-z0-9_=-]{50,400}',
  // Cloudflare: keys and tokens, certificates of origin.
  'cf(?:k|ut|at)_[A-Za-z0-9]{40,64}',
  'v1\\.0-[a-f0-9]{24}-[a-f0-9]{100,200}',
  // Databricks.
  'dapi[a-f0-9]{32}\\b(?:-[0-9]{1,2})?',
  // DigitalOcean.
  'do[opr]_v1_[a-f0-9]{64}',
  // Discord: the first part is a number in base64.
  '[MNO][A-Za-z0-9_-]{23,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,40}',
  'dckr_[po]at_[A-Za-z0-9_-]{20,64}',
  // Doppler.
  'dp\\.(?:pt|st|ct|sa|scim|audit)\\.[A-Za-z0-9._-]{40,80}',
  // Figma.
  'figd_[A-Za-z0-9_-]{36,64}',
  // Grafana.
  'glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}',
  'glc_[A-Za-z0-9+/=]{32,400}',
  // Groq.
  'gsk_[A-Za-z0-9]{40,80}',
  // Heroku.
  'HRKU-[A-Za-z0-9_-]{36,80}',
  // Hugging Face.
  '(?:hf|api_org)_[A-Za-z0-9]{30,60}',
  'lin_(?:api|oauth)_[A-Za-z0-9]{32,80}',
  // Mailgun.
  'key-[a-f0-9]{32}\\b',
  // New Relic.
  'NRAK-[A-Z0-9]{27}',
  // Notion, current and earlier format.
  'ntn_[A-Za-z0-9]{40,64}',
  'secret_[A-Za-z0-9]{43}\\b',
  // NVIDIA.
  'nvapi-[A-Za-z0-9_-]{60,80}',
  // Perplexity.
  'pplx-[A-Za-z0-9]{32,64}',
  // PlanetScale.
  'pscale_(?:tkn|pw|oauth)_[A-Za-z0-9._-]{32,64}',
  // Postman.
  'PMAK-[a-f0-9]{24}-[a-f0-9]{34}',
  // Pulumi.
  'pul-[a-f0-9]{40}\\b',
  'pypi-[A-Za-z0-9_-]{50,400}',
  // Replicate.
  'r8_[A-Za-z0-9]{37,40}\\b',
  'rubygems_[a-f0-9]{48}',
  // SendGrid.
  'SG\\.[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{32,64}',
  // Sentry.
  'sntry[su]_[A-Za-z0-9+/=_-]{40,400}',
  // Shopify.
  'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}',
  // Square.
  'EAAA[A-Za-z0-9_-]{56,64}',
  'sq0[a-z]{3}-[A-Za-z0-9_-]{22,60}',
  // Supabase.
  'sbp_(?:v[0-9]_)?[a-f0-9]{40}',
  'sb_secret_[A-Za-z0-9_-]{20,64}',
  // Telegram.
  '[0-9]{8,10}:AA[A-Za-z0-9_-]{32,36}',
  // Twilio.
  'SK[a-f0-9]{32}\\b',
  // Vault: service, batch and recovery tokens.
  'hv[sbr]\\.[A-Za-z0-9_-]{24,400}',
  'xai-[A-Za-z0-9]{60,100}',
];

/**
 * Patterns of secrets of well-known issuers. Each runs in linear time: unbounded repetitions start only at the beginning of a run of
 * their characters. Only a group named `secret` is masked, if present.
 *
 * Source: the issuers' documentation of their formats (AWS IAM identifiers; key prefixes of GitHub, GitLab, Slack, npm, Stripe, OpenAI,
 * Anthropic, Google Cloud; Cloudflare "Token formats"), the patterns that GitHub secret scanning and gitleaks list for the others,
 * RFC 7519 (JSON Web Tokens), RFC 7468 (PEM), RFC 6750 (bearer tokens), RFC 3986 (user information).
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
  /discord(?:app)?\.com\/api\/(?:v[0-9]{1,2}\/)?webhooks\/[0-9]{15,22}\/(?<secret>[A-Za-z0-9_-]{40,100})/,
  /npm_[A-Za-z0-9]{36}/,
  new RegExp(`(?<![A-Za-z0-9_-])(?:${prefixed.join('|')})`),
  // Stripe: secret and restricted keys, webhook secrets.
  /(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,255}/,
  /whsec_[A-Za-z0-9+/=]{20,255}/,
  // OpenAI, Anthropic and issuers with the same format.
  /(?<![A-Za-z0-9_-])sk-(?=[A-Za-z_-]{0,400}[0-9])[A-Za-z0-9_-]{20,400}/,
  // Google: API keys, OAuth access tokens and client secrets.
  /AIza[A-Za-z0-9_-]{35}/,
  /(?<![A-Za-z0-9_.-])ya29\.[A-Za-z0-9_-]{20,2000}/,
  /GOCSPX-[A-Za-z0-9_-]{20,60}/,
  // JSON Web Tokens: header and payload are JSON objects.
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*/,
  // Private keys, even with escaped line ends or without their end.
  /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[\s\\rn]{0,8}[A-Z][A-Za-z]{1,20}(?:-[A-Z][a-z]{1,20})?: [^\r\n\\]{0,200}){0,4}[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z0-9 ]{1,60}-----)?/,
  /(?<![A-Za-z0-9])[Bb]earer[ \t]{1,8}(?<secret>(?:(?=[A-Za-z._~+/=-]{0,400}[0-9])[A-Za-z0-9._~+/=-]{8,}|[A-Za-z0-9._~+/=-]{20,}))/,
  // A password in a URL, unless it is a variable.
  /:\/\/[^\s/?#:@"'<>\\]{0,256}:(?!\$(?:[A-Z_][A-Z0-9_]{0,99}|\{[\w.]{1,100}\})@)(?<secret>[^\s/?#"'<>\\]{1,1024})@/,
]);

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Creates a function that finds all matches of `patterns`, in order and without overlap. */
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
