import { Html, html } from './html.ts';
import { style, styleHash } from './style.ts';

/** A self-contained page: no network, no scripts; its Content-Security-Policy allows only its own style sheet. */
export function documentOf(title: string, body: Html): string {
  const policy = `default-src 'none'; style-src '${styleHash}'; base-uri 'none'; form-action 'none'`;
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${new Html(style)}</style>
</head>
<body>
${body}</body>
</html>
`.text;
}
