/** Kinds of single values in details; `v3` renders them. */
export type ScalarKind = 'address' | 'amount' | 'text' | 'flag' | 'integer' | 'opcode' | 'currencies' | 'addresses';

type ShapeFields = Readonly<Record<string, `${ScalarKind} ${string}`>>;

/** Objects within details, by name. Their fields are read from the field's own source. */
export const detailShapes = {
  dns_record: {
    sum_type: 'text value_schema',
    dns_smc_address: 'text value if value_schema=DNSSmcAddress',
    dns_adnl_address: 'text value if value_schema=DNSAdnlAddress',
    dns_text: 'text value if value_schema=DNSText',
    dns_next_resolver_address: 'text value if value_schema=DNSNextResolver',
    dns_storage_address: 'text value if value_schema=DNSStorageAddress|DNSText',
    flags: 'integer flags',
  },
  vault_excess: { asset: 'address asset', amount: 'amount amount' },
  swap_transfer: {
    asset: 'address asset',
    source: 'address source',
    destination: 'address destination',
    source_jetton_wallet: 'address source_jetton_wallet',
    destination_jetton_wallet: 'address destination_jetton_wallet',
    amount: 'amount amount',
  },
  peer_swap: {
    asset_in: 'address asset_in',
    amount_in: 'amount amount_in',
    asset_out: 'address asset_out',
    amount_out: 'amount amount_out',
  },
  claimed_reward: { jetton: 'address jetton', amount: 'amount amount' },
  layerzero_sending: {
    send_request_id: 'integer send_request_id',
    msglib_manager: 'text msglib_manager',
    msglib: 'text msglib',
    uln: 'address uln',
    native_fee: 'integer native_fee',
    zro_fee: 'integer zro_fee',
    endpoint: 'address endpoint',
    channel: 'address channel',
  },
  layerzero_packet: {
    src_oapp: 'text src_oapp',
    dst_oapp: 'text dst_oapp',
    src_eid: 'integer src_eid',
    dst_eid: 'integer dst_eid',
    nonce: 'integer nonce',
    guid: 'text guid',
    message: 'text message',
  },
} satisfies Readonly<Record<string, ShapeFields>>;
