import type { DefaultTheme, UserConfig } from 'vitepress';
import { libraries } from './libraries.ts';

type Page = readonly [title: string, link: string];

const pages = (list: readonly Page[]): DefaultTheme.SidebarItem[] => list.map(([text, link]) => ({ text, link }));

/** A topic of the level "Use", collapsed unless it contains the current page. */
const topic = (text: string, list: readonly Page[]): DefaultTheme.SidebarItem => ({
  text,
  collapsed: true,
  items: pages(list),
});

/** The menu of the guide: three levels. */
export const guideMenu: DefaultTheme.SidebarItem[] = [
  {
    text: 'Start',
    items: pages([
      ['What Holdfast is', '/'],
      ['Five minutes', '/five-minutes'],
      ['Write a tool', '/your-own-tools'],
      ['Write a policy pack', '/your-own-pack'],
      ['Guard a coding agent', '/guard'],
      ['Add it to an AI SDK app', '/ai-sdk'],
    ]),
  },
  {
    text: 'Use',
    items: [
      topic('Tools', [
        ['Define tools', '/tools'],
        ['Tool files', '/tool-files'],
        ['API keys', '/api-keys'],
        ['Lock tool files', '/tool-lock'],
        ['Files', '/files'],
        ['Resources', '/resources'],
      ]),
      topic('Policies', [
        ['Write a policy', '/policies'],
        ['Judge what a call does', '/facts'],
        ['Approvals', '/approvals'],
        ['Policy packs', '/packs'],
        ['Where a value came from', '/provenance'],
        ['Plugins', '/plugins'],
      ]),
      topic('Models and prompts', [
        ['Models', '/models'],
        ['Local models', '/local-models'],
        ['Prompts and sections', '/prompts'],
        ['Output, feedback, completion', '/guardrails'],
        ['To-do lists', '/to-do-lists'],
        ['Override prompt texts', '/overrides'],
      ]),
      topic('Runs and logs', [
        ['Transactions and parallel calls', '/transactions'],
        ['Limits', '/limits'],
        ['Sessions and replay', '/sessions'],
        ['See and answer in a browser', '/studio'],
        ['Stores', '/stores'],
        ['Recovery', '/recovery'],
        ['Several machines', '/several-machines'],
        ['Redaction', '/redaction'],
      ]),
      topic('Frameworks', [
        ['OpenAI Agents', '/openai-agents'],
        ['LangChain', '/langchain'],
        ['Mastra', '/mastra'],
        ['Strands', '/strands'],
        ['Claude Agent SDK', '/claude-agent-sdk'],
      ]),
      topic('MCP', [
        ['Use an MCP server', '/mcp-servers'],
        ['Offer tools over MCP', '/mcp-serve'],
        ['Govern an MCP server', '/mcp-wrap'],
      ]),
      topic('Plans and modules', [
        ['Plans', '/plans'],
        ['Planning', '/planning'],
        ['Run plans', '/running-plans'],
        ['Modules', '/modules'],
        ['Modules with tools', '/module-tools'],
      ]),
    ],
  },
  {
    text: 'Reference',
    items: pages([
      ['Command line', '/command-line'],
      ['Configuration', '/configuration'],
      ['Calls and outcomes', '/call-path'],
      ['Packs of Holdfast', '/our-packs'],
      ['Errors', '/errors'],
      ['Runtimes and limits', '/status'],
      ['Glossary', '/glossary'],
      ['Packages', '/reference/'],
    ]),
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

/** The site. `assemble` fills its source folder. */
export const site: UserConfig<DefaultTheme.Config> = {
  title: 'Holdfast',
  description: 'A governed tool runtime for LLM agents in TypeScript.',
  lang: 'en',
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/favicon.svg' }]],
  srcDir: '.cache/site',
  outDir: 'dist',
  cacheDir: '.cache/vitepress',
  // Keep braces in text and `{{` in code from markdown-it-attrs and Vue.
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
    search: {
      provider: 'local',
      // A search for a topic finds the guide first, a search for a name the reference.
      options: {
        miniSearch: {
          searchOptions: { boostDocument: (id: string) => (id.includes('/reference/') ? 0.2 : 1) },
        },
      },
    },
    outline: { level: [2, 3] },
  },
};
