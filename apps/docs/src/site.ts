import type { DefaultTheme, UserConfig } from 'vitepress';
import { libraries } from './libraries.ts';

const guide: DefaultTheme.SidebarItem[] = [
  {
    text: 'Start',
    items: [
      { text: 'What Holdfast is', link: '/' },
      { text: 'Five minutes', link: '/five-minutes' },
      { text: 'Your own tools', link: '/your-own-tools' },
      { text: 'Your own pack', link: '/your-own-pack' },
      { text: 'What is here and what is not', link: '/status' },
    ],
  },
  {
    text: 'Write',
    items: [
      { text: 'Tools and schemas', link: '/tools' },
      { text: 'Sections and prompts', link: '/prompts' },
      { text: 'Disclosure', link: '/disclosure' },
      { text: 'Guardrails', link: '/guardrails' },
      { text: 'Planning', link: '/planning' },
      { text: 'Plans', link: '/plans' },
      { text: 'Plans from requests', link: '/compiled-plans' },
      { text: 'Modules', link: '/modules' },
      { text: 'Modules with tools', link: '/module-tools' },
      { text: 'Module files', link: '/module-files' },
      { text: 'Programs of DSPy', link: '/dspy' },
      { text: 'Overrides', link: '/overrides' },
      { text: 'Policies', link: '/policies' },
      { text: 'Policy packs', link: '/packs' },
      { text: 'Our packs', link: '/our-packs' },
      { text: 'Plugins and the registry', link: '/plugins' },
      { text: 'Configuration', link: '/configuration' },
      { text: 'Tool files', link: '/tool-files' },
      { text: 'API keys', link: '/api-keys' },
      { text: 'Locking tool files', link: '/tool-lock' },
    ],
  },
  {
    text: 'Run',
    items: [
      { text: 'The call path and outcomes', link: '/call-path' },
      { text: 'Transactions', link: '/transactions' },
      { text: 'Turns with several calls', link: '/turns' },
      { text: 'Running plans', link: '/running-plans' },
      { text: 'Limits', link: '/limits' },
      { text: 'Approvals', link: '/approvals' },
      { text: 'Recovery', link: '/recovery' },
      { text: 'Sessions', link: '/sessions' },
      { text: 'Stores', link: '/stores' },
      { text: 'Replay and explain', link: '/replay' },
      { text: 'Redaction', link: '/redaction' },
      { text: 'Files', link: '/files' },
      { text: 'Resources', link: '/resources' },
      { text: 'Models', link: '/models' },
      { text: 'Local models', link: '/local-models' },
      { text: 'Serving a model', link: '/serve' },
      { text: 'Command line', link: '/command-line' },
    ],
  },
  {
    text: 'Look up',
    items: [
      { text: 'Errors', link: '/errors' },
      { text: 'Glossary', link: '/glossary' },
      { text: 'Reference', link: '/reference/' },
    ],
  },
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
    sidebar: { '/': guide, '/reference/': reference },
    search: { provider: 'local' },
    outline: { level: [2, 3] },
  },
};
