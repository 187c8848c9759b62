import type { DefaultTheme, UserConfig } from 'vitepress';
import { libraries } from './libraries.ts';

const group = (text: string, items: readonly (readonly [text: string, link: string])[]): DefaultTheme.SidebarItem => ({
  text,
  // Open where the page that is shown is one of it.
  collapsed: text !== 'Start',
  items: items.map(([title, link]) => ({ text: title, link })),
});

/** The menu of the guide. */
export const guideMenu: DefaultTheme.SidebarItem[] = [
  group('Start', [
    ['What Holdfast is', '/'],
    ['Five minutes', '/five-minutes'],
    ['Your own tools', '/your-own-tools'],
    ['Your own pack', '/your-own-pack'],
    ['Command line', '/command-line'],
    ['What is here and what is not', '/status'],
  ]),
  group('Tools', [
    ['Tools and schemas', '/tools'],
    ['Tool files', '/tool-files'],
    ['API keys', '/api-keys'],
    ['Locking tool files', '/tool-lock'],
    ['Files', '/files'],
    ['Resources', '/resources'],
  ]),
  group('Prompts', [
    ['Sections and prompts', '/prompts'],
    ['Disclosure', '/disclosure'],
    ['Guardrails', '/guardrails'],
    ['Overrides', '/overrides'],
    ['Planning', '/planning'],
  ]),
  group('Policies, packs and plugins', [
    ['Policies', '/policies'],
    ['Policy packs', '/packs'],
    ['Our packs', '/our-packs'],
    ['What a call does', '/facts'],
    ['Plugins and the registry', '/plugins'],
    ['Configuration', '/configuration'],
  ]),
  group('Calls', [
    ['The call path and outcomes', '/call-path'],
    ['Transactions', '/transactions'],
    ['Turns with several calls', '/turns'],
    ['Limits', '/limits'],
    ['Approvals', '/approvals'],
    ['Guard a coding agent', '/guard'],
  ]),
  group('Sessions', [
    ['Sessions', '/sessions'],
    ['Stores', '/stores'],
    ['Recovery', '/recovery'],
    ['Replay and explain', '/replay'],
    ['Redaction', '/redaction'],
  ]),
  group('Plans', [
    ['Plans', '/plans'],
    ['Plans from requests', '/compiled-plans'],
    ['Running plans', '/running-plans'],
  ]),
  group('Modules', [
    ['Modules', '/modules'],
    ['Modules with tools', '/module-tools'],
    ['Module files', '/module-files'],
    ['Programs of DSPy', '/dspy'],
  ]),
  group('Models', [
    ['Models', '/models'],
    ['Local models', '/local-models'],
  ]),
  group('Look up', [
    ['Works with', '/works-with'],
    ['Errors', '/errors'],
    ['Glossary', '/glossary'],
    ['Reference', '/reference/'],
  ]),
];

const reference: DefaultTheme.SidebarItem[] = [
  {
    text: 'Reference',
    items: [
      { text: 'Packages', link: '/reference/' },
      ...libraries().map(({ folder, name }) => ({ text: name, link: `/reference/${folder}` })),
    ],
  },
];

/** The site. Pages come from the folder that `assemble` fills. */
export const site: UserConfig<DefaultTheme.Config> = {
  title: 'Holdfast',
  description: 'A governed tool runtime for LLM agents in TypeScript.',
  lang: 'en',
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/favicon.svg' }]],
  srcDir: '.cache/site',
  outDir: 'dist',
  cacheDir: '.cache/vitepress',
  // Braces in a text are braces, and in code two of them are, too.
  markdown: {
    attrs: { disable: true },
    config(markdown) {
      const renderCode = markdown.renderer.rules.code_inline;
      markdown.renderer.rules.code_inline = (...line) =>
        (renderCode?.(...line) ?? '').replace(/^<code(?! v-pre)/, '<code v-pre');
    },
  },
  themeConfig: {
    nav: [
      { text: 'Guide', link: '/five-minutes' },
      { text: 'Errors', link: '/errors' },
      { text: 'Reference', link: '/reference/' },
    ],
    sidebar: { '/': guideMenu, '/reference/': reference },
    search: { provider: 'local' },
    outline: { level: [2, 3] },
  },
};
