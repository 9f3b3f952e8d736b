/**
 * Title and sentence of each type of action. Marks in a sentence name values of the details.
 *
 * - `{@name}`: an account.
 * - `{$name}`: nanotons.
 * - `{#name/asset}`: units of the token at `asset`; of TON when `asset` is null.
 * - `{!name}`: a token or an item, by its own name.
 * - `{"name}`: a text of a contract's author.
 * - `{%name}`: extra currencies.
 * - `{name}`: a word or a number.
 * - `[…]`: left out when one of its values is absent.
 */
export const actionSentences: Readonly<Record<string, readonly [title: string, sentence: string]>> = {
  ton_transfer: ['TON transfer', '{@source} sends {$value} to {@destination}[: {"comment}]'],
  extra_currency_transfer: [
    'Currency transfer',
    '{@source} sends [{%value_extra_currencies} ][{%extra_currencies} ]to {@destination}[ with {$value}][: {"comment}]',
  ],
  call_contract: ['Contract call', '{@source} calls {@destination}[ with opcode {opcode}][ and {$value}]'],
  contract_deploy: ['Contract deployment', '{@destination} is deployed[ by {@source}][ with {$value}]'],
  tick_tock: ['Tick-tock', 'The block runs {@account}'],

  jetton_transfer: ['Jetton transfer', '{@sender} sends {#amount/asset} to {@receiver}[: {"comment}]'],
  jetton_mint: ['Jetton mint', '{#amount/asset} are minted for {@receiver}'],
  jetton_burn: ['Jetton burn', '{@owner} burns {#amount/asset}'],
  jetton_swap: [
    'Swap',
    '{@sender} swaps {#dex_incoming_transfer.amount/asset_in} for {#dex_outgoing_transfer.amount/asset_out}[ at {dex}]',
  ],
  dex_deposit_liquidity: [
    'Liquidity deposit',
    '{@source} deposits[ {#amount_1/asset_1}][ and {#amount_2/asset_2}][ into {@pool}][ at {dex}]',
  ],
  dex_withdraw_liquidity: [
    'Liquidity withdrawal',
    '{@source} withdraws[ {#amount_1/asset_1}][ and {#amount_2/asset_2}][ from {@pool}][ at {dex}]',
  ],

  nft_mint: ['NFT mint', '{!nft_item}[ of {!nft_collection}] is minted[ for {@owner}]'],
  nft_transfer: ['NFT transfer', '[{@old_owner} sends ]{!nft_item} to {@new_owner}[: {"comment}]'],
  nft_purchase: [
    'NFT purchase',
    '{@new_owner} buys {!nft_item}[ from {@real_old_owner}][ for {$price}][ at {marketplace}]',
  ],
  nft_discovery: ['NFT ownership query', '{@source} asks {!nft_item} for its data'],
  nft_put_on_sale: ['NFT put on sale', '{@owner} offers {!nft_item}[ for {$full_price}][ at {marketplace}]'],
  nft_update_sale: ['NFT sale changed', '{@source} offers {!nft_address}[ for {$full_price}][ at {marketplace}]'],
  nft_cancel_sale: ['NFT sale cancelled', '{@owner} takes {!nft_item} back[ from {marketplace}]'],
  nft_put_on_auction: [
    'NFT put up for auction',
    '{@owner} puts {!nft_item} up for auction[ from {$min_bid}][ at {marketplace}]',
  ],
  nft_cancel_auction: ['NFT auction cancelled', '{@owner} cancels the auction of {!nft_item}[ at {marketplace}]'],
  nft_finish_auction: ['NFT auction ended', '{@owner} ends the auction of {!nft_item}[ at {marketplace}]'],
  teleitem_start_auction: [
    'Auction started',
    '{@owner} puts {!nft_item} up for auction[ from {$min_bid}][ at {marketplace}]',
  ],
  teleitem_cancel_auction: ['Auction cancelled', '{@owner} cancels the auction of {!nft_item}[ at {marketplace}]'],
  auction_bid: ['Bid', '{@bidder} bids {$amount} for {!nft_item}'],
  auction_outbid: ['Outbid', '{@bidder} gets {$amount} back for {!nft_item}[, because {@new_bidder} bids more]'],

  change_dns: [
    'DNS record set',
    '{@source} sets record {key} of {!asset}[ to {@value.dns_smc_address}][ to {"value.dns_text}]' +
      '[ to {value.dns_adnl_address}][ to {@value.dns_next_resolver_address}][ to {value.dns_storage_address}]',
  ],
  delete_dns: ['DNS record deleted', '{@source} deletes record {key} of {!asset}'],
  renew_dns: ['Domain renewed', '{@source} renews {!asset}'],
  dns_purchase: ['Domain purchase', '{@new_owner} buys {!nft_item}[ for {$price}]'],
  dns_release: ['Domain released', '{@source} releases {!nft_item}[ with {$value}]'],

  election_deposit: ['Election stake', '{@stake_holder} stakes[ {$amount}] for the election of validators'],
  election_recover: ['Election stake returned', '{@stake_holder} gets[ {$amount}] back from the elector'],
  stake_deposit: [
    'Stake',
    '{@stake_holder} stakes {#amount/source_asset} in {@pool}[ for {#tokens_minted/asset}][ ({provider})]',
  ],
  stake_withdrawal: [
    'Stake withdrawal',
    '{@stake_holder} withdraws[ {$amount}][ from {@pool}][ for {#tokens_burnt/asset}][ ({provider})]',
  ],
  stake_withdrawal_request: [
    'Stake withdrawal requested',
    '{@stake_holder} asks for the stake[ of {#tokens_burnt/asset}][ from {@pool}][ ({provider})]',
  ],

  subscribe: ['Subscription payment', '{@subscriber} pays {$amount} for {@subscription}[ to {@beneficiary}]'],
  unsubscribe: ['Subscription ended', '{@subscriber} ends {@subscription}[ of {@beneficiary}]'],

  multisig_create_order: [
    'Multisig order',
    '{@source} makes order {order_seqno} ({@destination_order}) of {@destination}',
  ],
  multisig_approve: ['Multisig approval', '{@source} approves {@destination}'],
  multisig_execute: ['Multisig execution', '{@destination} executes order {order_seqno} ({@source})'],
  vesting_send_message: [
    'Vesting message',
    '{@source} lets {@vesting} send a message to {@destination}[ with {$amount}]',
  ],
  vesting_add_whitelist: ['Vesting whitelist', '{@source} adds accounts to the whitelist of {@vesting}'],

  jvault_stake: ['Stake', '{@source} stakes {#amount/asset} in {@pool}[ for {period} s]'],
  jvault_unstake: ['Stake withdrawal', '{@source} withdraws[ {#amount/staking_asset}] from {@pool}'],
  jvault_unstake_request: [
    'Stake withdrawal requested',
    '{@source} asks for the stake[ of {#amount/staking_asset}] from {@pool}',
  ],
  jvault_claim: ['Staking rewards', '{@source} claims rewards from {@pool}'],

  evaa_supply: ['Loan supply', '{@source} supplies {#amount/asset} to EVAA[ for {@recipient}]'],
  evaa_withdraw: [
    'Loan withdrawal',
    '{@source} withdraws {#amount/asset} from EVAA[ to {@recipient}][: {fail_reason}]',
  ],
  evaa_liquidate: [
    'Loan liquidation',
    '{@source} liquidates the loan of {@borrower}[: {amount} units of asset {asset_id}][: {fail_reason}]',
  ],

  tgbtc_mint: ['tgBTC mint', '{#amount/asset} are minted for {@destination}[ by Bitcoin transaction {bitcoin_tx_id}]'],
  tgbtc_mint_fallback: ['tgBTC mint', '{#amount/asset} are minted for {@destination}'],
  tgbtc_burn: ['tgBTC burn', '{@source} burns {#amount/asset}'],
  tgbtc_burn_fallback: ['tgBTC burn', '{@source} burns {#amount/asset}'],
  tgbtc_new_key: ['tgBTC key', '{@source} makes a new key of {@coordinator}[ with {#amount/asset}]'],
  tgbtc_new_key_fallback: ['tgBTC key', '{@source} makes a new key of {@coordinator}[ with {#amount/asset}]'],
  tgbtc_dkg_log_fallback: ['tgBTC key log', '{@coordinator} logs key {pubkey}'],

  tonco_deploy_pool: [
    'Pool deployment',
    '{@source} deploys {@pool}[ of {!jetton_minter_1}][ and {!jetton_minter_2}] at tonco',
  ],
  coffee_create_vault: ['Vault creation', '{@source} makes {@vault}[ for {!asset}] at coffee'],
  coffee_create_pool_creator: ['Pool deposit', '{@source} deposits {#amount/provided_asset} for a new pool at coffee'],
  coffee_create_pool: [
    'Pool creation',
    '{@source} makes {@pool}[ of {#amount_1/asset_1}][ and {#amount_2/asset_2}] at coffee',
  ],
  coffee_mev_protect_hold_funds: ['Swap on hold', '{@source} leaves {#amount/asset} with {@mev_contract}'],
  coffee_mev_protect_failed_swap: ['Swap failed', 'A protected swap at coffee failed'],
  coffee_staking_deposit: ['Stake', '{@source} stakes {#amount/asset} in {@pool}[ for {!minted_item_address}]'],
  coffee_staking_withdraw: [
    'Stake withdrawal',
    '{@source} withdraws {#amount/asset} from {@pool}[ for {!nft_address}]',
  ],
  coffee_staking_claim_rewards: ['Staking rewards', '{@recipient} claims {#amount/asset} from {@pool}'],

  layerzero_send: [
    'Message to another chain',
    '{@initiator} sends packet {layerzero_packet_data.nonce} to chain {layerzero_packet_data.dst_eid}',
  ],
  layerzero_send_tokens: [
    'Tokens to another chain',
    '{@sender} sends[ {#amount/asset}] through {@oapp} to chain {layerzero_packet_data.dst_eid}',
  ],
  layerzero_receive: [
    'Message from another chain',
    '{@oapp} receives packet {layerzero_packet_data.nonce} of chain {layerzero_packet_data.src_eid}',
  ],
  layerzero_commit_packet: [
    'Packet committed',
    '{@sender} commits packet {layerzero_packet_data.nonce} of chain {layerzero_packet_data.src_eid}',
  ],
  layerzero_dvn_verify: ['Packet verified', '{@dvn} verifies packet {nonce}[: {status}]'],

  cocoon_worker_payout: ['Cocoon worker payout', '{@source} pays[ {$amount}] to {@destination}[ ({payout_type})]'],
  cocoon_proxy_payout: ['Cocoon proxy payout', '{@source} pays {@destination}'],
  cocoon_proxy_charge: ['Cocoon charge', '{@source} charges {@destination}[ for {new_tokens_used} tokens]'],
  cocoon_client_top_up: ['Cocoon top-up', '{@source} adds {$amount} to {@destination}'],
  cocoon_client_register: ['Cocoon client', '{@source} registers with {@destination}'],
  cocoon_client_change_secret_hash: ['Cocoon secret', '{@source} changes the hash of the secret of {@destination}'],
  cocoon_client_request_refund: ['Cocoon refund requested', '{@source} asks {@destination} for a refund'],
  cocoon_client_increase_stake: ['Cocoon stake', '{@source} raises the stake of {@destination}[ to {$new_stake}]'],
  cocoon_client_withdraw: ['Cocoon withdrawal', '{@source} withdraws[ {$withdraw_amount}] from {@destination}'],
  cocoon_grant_refund: ['Cocoon refund', '{@source} gives a refund[ of {$amount}] to {@destination}'],
  cocoon_register_proxy: ['Cocoon proxy', 'A proxy registers with {@destination}'],
  cocoon_unregister_proxy: ['Cocoon proxy leaves', 'A proxy leaves {@destination}'],

  unknown: ['Transactions without a known meaning', 'The classifier knows no meaning'],
};
