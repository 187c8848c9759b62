// Checked by `tsc` against the frameworks' own types: what a program says about its tools survives.

import { defineTool } from '@holdfast/core';
import { createGuard } from '@holdfast/guard';
import { governTools as governAiSdk } from '@holdfast/guard/ai-sdk';
import { toLangChainTools } from '@holdfast/guard/langchain';
import { governTools as governMastra, toMastraTools } from '@holdfast/guard/mastra';
import { governTool, toOpenAiTools } from '@holdfast/guard/openai-agents';
import { tool as langChainTool } from '@langchain/core/tools';
import { createTool } from '@mastra/core/tools';
import { tool as openAiTool } from '@openai/agents';
import { generateText, ToolLoopAgent, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';

const guard = createGuard({ session: {} as never, policies: [] });
type Equal<Left, Right> = (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false;
const isTrue = <Given extends true>(): Given | undefined => undefined;

const refund = tool({
  inputSchema: z.object({ order: z.number() }),
  execute: async ({ order }) => ({ refunded: order }),
});
const governed = governAiSdk(guard, { refund });
isTrue<Equal<typeof governed.tools.refund, typeof refund>>();
export const agent = new ToolLoopAgent({ model: new MockLanguageModelV4(), ...governed });
const { staticToolResults } = await generateText({ model: new MockLanguageModelV4(), prompt: 'Go.', ...governed });
isTrue<Equal<(typeof staticToolResults)[number]['output'], { refunded: number }>>();

const make = governTool(guard, openAiTool);
isTrue<Equal<typeof make, typeof openAiTool>>();
export const made = make({
  name: 'refund',
  description: 'Refund an order.',
  parameters: z.object({ order: z.number() }),
  execute: ({ order }) => isTrue<Equal<typeof order, number>>(),
});

const look = createTool({
  id: 'look',
  description: 'Look.',
  inputSchema: z.object({ order: z.number() }),
  execute: async ({ order }) => order,
});
const tools = governMastra(guard, { look });
isTrue<Equal<typeof tools.look, typeof look>>();

const own = { session: {} as never, policies: [] };
const ship = defineTool({ name: 'ship', description: 'Ship.', execute: () => 'Shipped.' });
const mastraTools = toMastraTools({ ship }, { ...own, tool: createTool });
isTrue<Equal<typeof mastraTools, { ship: ReturnType<typeof createTool> }>>();
export const openAiTools: ReturnType<typeof openAiTool>[] = toOpenAiTools([ship], { ...own, tool: openAiTool });
export const langChainTools: ReturnType<typeof langChainTool>[] = toLangChainTools([ship], {
  ...own,
  tool: langChainTool,
}).tools;
