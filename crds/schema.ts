/** Node of an OpenAPI v3 schema, limited to the keywords of our custom resources. */
export type Schema = {
  readonly type?: string;
  /** `hot`: a change takes effect without a restart. Absent: pods restart. */
  readonly title?: 'hot';
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message: string }[];
  readonly [extension: `x-kubernetes-${string}`]: unknown;
};

/** A custom resource definition. */
export type Definition = {
  readonly spec: {
    readonly names: {
      readonly kind: string;
      readonly plural: string;
      readonly shortNames: readonly string[];
    };
    readonly versions: readonly {
      readonly name: string;
      readonly additionalPrinterColumns: readonly { readonly name: string; readonly priority?: number }[];
      readonly selectableFields: readonly { readonly jsonPath: string }[];
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
};
