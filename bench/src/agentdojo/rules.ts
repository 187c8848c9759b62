import type { JsonObject } from '@holdfast/core';
import type { ProvenanceOptions } from '@holdfast/pack-provenance';

/** The options of the pack `provenance` for the tools of both suites. */
export interface SuiteRules {
  readonly known?: readonly string[];
  readonly trusted: NonNullable<ProvenanceOptions['trusted']>;
  readonly tools: Readonly<
    Record<string, { readonly decides?: Readonly<Record<string, string>>; readonly words: readonly string[] }>
  >;
}

/** Only the rules for the tools that a suite has: a rule for a missing tool is an error. */
export function rulesFor({ trusted, tools, known = [] }: SuiteRules, names: readonly string[]): JsonObject {
  const own = (rules: object): object =>
    Object.fromEntries(Object.entries(rules).filter(([name]) => names.includes(name)));
  return JSON.parse(JSON.stringify({ trusted: own(trusted), tools: own(tools), known })) as JsonObject;
}

const mailFields = ['id_', 'timestamp', 'status', 'read'];
const eventFields = ['id_', 'start_time', 'end_time', 'participants', 'all_day', 'status'];
const fileFields = ['id_', 'owner', 'shared_with', 'size', 'last_modified'];

/** Written from the descriptions of the tools, before the first run. */
export const firstRules: SuiteRules = {
  trusted: {
    // The user's own lists and mails. An outsider chooses the sender and the other recipients of a mail to the user.
    search_contacts_by_name: ['*'],
    search_contacts_by_email: ['*'],
    get_sent_emails: [...mailFields, 'sender', 'recipients', 'cc', 'bcc'],
    get_draft_emails: [...mailFields, 'sender', 'recipients', 'cc', 'bcc'],
    get_received_emails: mailFields,
    get_unread_emails: mailFields,
    search_emails: mailFields,
    get_current_day: ['*'],
    search_calendar_events: eventFields,
    get_day_calendar_events: eventFields,
    create_calendar_event: ['id_'],
    search_files_by_filename: fileFields,
    search_files: fileFields,
    get_file_by_id: fileFields,
    list_files: fileFields,
    create_file: ['id_'],
    get_iban: ['*'],
    get_balance: ['*'],
    get_user_info: ['*'],
    // The subject and the sender of a transaction are an outsider's.
    get_most_recent_transactions: ['id', 'date', 'amount', 'recipient', 'recurring'],
    get_scheduled_transactions: ['id', 'date', 'amount', 'recipient', 'recurring'],
  },
  tools: {
    send_email: {
      decides: { recipients: 'address', cc: 'address', bcc: 'address', 'attachments.file_id': 'id' },
      words: [
        'send',
        'reply',
        'respond',
        'answer',
        'forward',
        'write',
        'notify',
        'inform',
        'tell',
        'invit*',
        'share',
        'message',
      ],
    },
    delete_email: { decides: { email_id: 'id' }, words: ['delet*', 'remov*', 'clean*', 'trash'] },
    create_calendar_event: {
      decides: { participants: 'address' },
      words: [
        'creat*',
        'add',
        'schedul*',
        'book',
        'set up',
        'plan',
        'put',
        'make',
        'remind*',
        'block',
        'organi*',
        'arrange',
      ],
    },
    cancel_calendar_event: { decides: { event_id: 'id' }, words: ['cancel*', 'delet*', 'remov*', 'call off'] },
    reschedule_calendar_event: {
      decides: { event_id: 'id' },
      words: ['reschedul*', 'mov*', 'postpon*', 'chang*', 'shift', 'push', 'delay', 'bring forward'],
    },
    add_calendar_event_participants: {
      decides: { event_id: 'id', participants: 'address' },
      words: ['add', 'invit*', 'includ*'],
    },
    append_to_file: {
      decides: { file_id: 'id' },
      words: ['append', 'add', 'write', 'insert', 'put', 'updat*', 'extend'],
    },
    create_file: { words: ['creat*', 'write', 'save', 'make', 'new', 'draft', 'store'] },
    delete_file: { decides: { file_id: 'id' }, words: ['delet*', 'remov*', 'clean*'] },
    share_file: { decides: { file_id: 'id', email: 'address' }, words: ['shar*', 'send', 'access'] },
    send_money: {
      decides: { recipient: 'account', amount: 'amount' },
      words: ['send', 'pay', 'transfer', 'refund', 'wire', 'give', 'return'],
    },
    schedule_transaction: {
      decides: { recipient: 'account', amount: 'amount' },
      words: ['schedul*', 'set up', 'recurring', 'pay', 'send', 'transfer', 'standing order', 'every', 'monthly'],
    },
    update_scheduled_transaction: {
      decides: { id: 'id', recipient: 'account', amount: 'amount' },
      words: ['updat*', 'chang*', 'adjust*', 'modif*', 'increas*', 'decreas*', 'set', 'edit'],
    },
    update_password: { decides: { password: 'text' }, words: ['password'] },
    update_user_info: {
      decides: { first_name: 'text', last_name: 'text', street: 'text', city: 'text' },
      words: ['updat*', 'chang*', 'moved', 'set', 'correct', 'edit'],
    },
  },
};

const { send_money, schedule_transaction, update_scheduled_transaction } = firstRules.tools;

const company = '@bluesparrowtech.com';
/** Searches find mails of both directions: the user chose the recipients of those sent. */
const foundMails = [...mailFields, { fields: ['recipients', 'cc', 'bcc'], where: { status: ['sent', 'draft'] } }];
/** Outsiders share files with the user, and choose with whom else. */
const files = [
  ...fileFields.filter((field) => field !== 'shared_with'),
  { fields: ['shared_with'], where: { owner: [company] } },
];

/**
 * Corrected after the first run. A recipient may be a shop that the request names. An amount says how much, not where: it no longer decides, so
 * an attacker may raise one that goes to a recipient of the user's. The user vouches for the addresses of the own company. Recipients and
 * readers count in what the user or the company wrote.
 */
export const correctedRules: SuiteRules = {
  known: [company],
  trusted: {
    ...firstRules.trusted,
    search_emails: foundMails,
    search_files_by_filename: files,
    search_files: files,
    get_file_by_id: files,
    list_files: files,
  },
  tools: {
    ...firstRules.tools,
    send_money: { words: send_money?.words ?? [], decides: { recipient: 'any' } },
    schedule_transaction: { words: schedule_transaction?.words ?? [], decides: { recipient: 'any' } },
    update_scheduled_transaction: {
      words: update_scheduled_transaction?.words ?? [],
      decides: { id: 'id', recipient: 'any' },
    },
  },
};
