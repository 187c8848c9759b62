/** Something that a server did, or that was done about it. Texts are the server's own: show them as untrusted. */
export type McpEvent =
  /** The server asked for something that Holdfast does not give: sampling, roots, or a question that nobody can answer. */
  | { readonly type: 'request-refused'; readonly server: string; readonly method: string }
  | {
      readonly type: 'elicitation';
      readonly server: string;
      readonly message: string;
      readonly action: 'accept' | 'decline' | 'cancel';
    }
  /** The connection ended although nobody closed it. The next call opens a new one. */
  | { readonly type: 'connection-lost'; readonly server: string }
  | { readonly type: 'tools-changed'; readonly server: string };

export type McpListener = (event: McpEvent) => void;
