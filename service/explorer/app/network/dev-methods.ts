/** A parameter of a dev method, from the document of `POST /dev`. */
export type DevParameter = {
  readonly name: string;
  readonly about: string;
  readonly type: 'integer' | 'boolean' | 'text';
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly isRequired: boolean;
};

export type DevMethod = {
  readonly name: string;
  readonly about: string;
  readonly parameters: readonly DevParameter[];
  /** The form asks before it runs the method. */
  readonly cannotBeUndone: boolean;
};

type ParameterSchema = {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
};

type CallSchema = {
  readonly description?: string;
  readonly 'x-cannot-be-undone'?: boolean;
  readonly properties?: {
    readonly method?: { readonly const?: string };
    readonly params?: {
      readonly required?: readonly string[];
      readonly properties?: Readonly<Record<string, ParameterSchema>>;
    };
  };
};

/** The document of the internal listener's `POST /dev`, as far as forms need it. */
export type DevDocument = { readonly components: { readonly schemas: Readonly<Record<string, CallSchema>> } };

/** Returns the methods of a document in its order. */
export function methodsOf({ components }: DevDocument): DevMethod[] {
  return Object.values(components.schemas).flatMap((schema) => {
    const name = schema.properties?.method?.const;
    if (name === undefined) return [];
    const { required = [], properties = {} } = schema.properties?.params ?? {};
    const parameters = Object.entries(properties).map(
      ([parameter, { type, description = '', minimum, maximum }]): DevParameter => ({
        name: parameter,
        about: description,
        type: type === 'integer' || type === 'boolean' ? type : 'text',
        min: minimum,
        max: maximum,
        isRequired: required.includes(parameter),
      }),
    );
    return [
      { name, about: schema.description ?? '', parameters, cannotBeUndone: schema['x-cannot-be-undone'] === true },
    ];
  });
}

/**
 * Makes the parameters of a call from the fields of a form. An empty field is absent.
 * @param fields text of each field by the parameter's name
 */
export function parametersOf({ parameters }: DevMethod, fields: ReadonlyMap<string, string>): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const { name, type } of parameters) {
    const text = fields.get(name)?.trim() ?? '';
    if (text === '') continue;
    if (type === 'boolean') given[name] = text === 'true';
    else given[name] = type === 'integer' && /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  }
  return given;
}

/** Methods of each part of the page, by name. A method of no part is in the last part. */
const parts = {
  faucet: ['dev_fund', 'dev_mintJetton'],
  time: ['dev_mine', 'dev_advance', 'dev_setTime', 'dev_setNextBlockTime'],
  snapshots: ['dev_snapshot', 'dev_revert', 'dev_deleteSnapshot', 'dev_exportSnapshot', 'dev_dump', 'dev_load'],
  conditions: ['dev_conditions'],
} as const;

/** Methods that the page calls by itself. */
const shownOtherwise: readonly string[] = ['dev_status', 'dev_snapshots'];

export type Part = keyof typeof parts | 'further';

export function methodsByPart(methods: readonly DevMethod[]): ReadonlyMap<Part, readonly DevMethod[]> {
  const named = Object.entries(parts) as [Part, readonly string[]][];
  const placed = new Set([...named.flatMap(([, names]) => names), ...shownOtherwise]);
  return new Map<Part, readonly DevMethod[]>([
    ...named.map(([part, names]): [Part, DevMethod[]] => [part, methods.filter(({ name }) => names.includes(name))]),
    ['further', methods.filter(({ name }) => !placed.has(name))],
  ]);
}
