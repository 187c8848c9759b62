import { type OwnToolOptions, type OwnTools, OwnToolset } from './own-tools.ts';

interface CallContext {
  readonly toolUse: { readonly toolUseId: string };
  readonly cancelSignal?: AbortSignal;
  interrupt(question: { readonly name: string; readonly reason: string }): unknown;
}

/**
 * Gives tools of Holdfast to a Strands agent: each call goes through the executor, with its state and files. `tool` is Strands' own. An ask
 * is an interrupt of the tool, as for `holdfastIntervention`; any other outcome is text for the model, an error unless it is `ok`.
 *
 * @throws HoldfastError as `executeToolCall`, for an invalid configuration.
 */
export function toStrandsTools<Factory extends (options: never) => object>(
  tools: OwnTools,
  { tool, ...options }: OwnToolOptions & { readonly tool: Factory },
): ReturnType<Factory>[] {
  const own = new OwnToolset(tools, options);
  const make = tool as unknown as (options: object) => ReturnType<Factory>;
  return own.declarations.map(({ name, description, inputSchema }) =>
    make({
      name,
      description,
      inputSchema,
      async callback(input: unknown, { toolUse: { toolUseId: id }, cancelSignal: signal, ...context }: CallContext) {
        // Throws until there is a response.
        const answer = (reason: string): boolean => context.interrupt({ name: `holdfast:${id}`, reason }) === true;
        const { kind, text } = await own.run({ id, name, input }, { signal, answer });
        if (kind === 'ok' || kind === 'waits') return text;
        throw new Error(text);
      },
    }),
  );
}
