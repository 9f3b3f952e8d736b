import { crc16 } from './address-forms.ts';

/** Names of get-methods that contracts often have. Code has ids alone: a name is known when its id is there. */
const names = `
  active_election_id balance compute_cost compute_returned_stake counter dnsresolve estimate_liquidity_deposit_amount
  estimate_liquidity_withdraw_amount estimate_swap_amount estimate_swap_out getAllTickInfos getChildContracts getIsActive
  getPoolAddress getPoolStateAndConfiguration getRouterState get_active_range get_admin_address
  get_affiliate_account_address get_affiliate_account_data get_amm_contract_data get_amm_name get_amm_status get_asset
  get_assets get_auction_data_v4 get_auction_info get_authority get_authority_address get_available_claim_amount
  get_balance get_balances get_bill_address get_bins_number get_chain_id get_channel_data get_code get_collection_address
  get_collection_data get_config get_contract_data get_counter get_cron_info get_current_bin
  get_current_guardian_set_index get_delegation_state get_distribution_info get_domain get_editor
  get_ema_price_no_older_than get_ema_price_unsafe get_estimated_attached_value get_exchange_settings
  get_executor_balances get_executor_collection_address get_expected_liquidity get_expected_outputs get_expected_tokens
  get_extensions get_fee get_fill_out get_fix_price_data_v4 get_governance_chain_id get_governance_contract
  get_governance_data_source get_governance_data_source_index get_guardian_set get_id get_is_claimed
  get_is_valid_data_source get_jetton_data get_jetton_wallet_address get_last_clean_time
  get_last_executed_governance_sequence get_last_fill_up_time get_liquidity_data get_liquidity_deposit_address
  get_liquidity_depository_address get_liquidity_depository_address_no_settings get_locked_balance get_locker_bill_data
  get_locker_data get_lockup_data get_lp_account_address get_lp_account_data get_lp_data get_lp_mining_data
  get_lp_minter_address get_lp_multitoken_wallet get_lp_swap_data get_master_address get_member get_members_raw
  get_messages_unsigned get_metadata_uri get_mining_data get_mintless_airdrop_hashmap_root get_multisig_data
  get_next_admin_address get_next_item_index get_next_proof_info get_nft_address get_nft_address_by_index get_nft_content
  get_nft_data get_nominator_data get_nonce get_order_address get_order_amount get_order_data get_order_seqno get_owner
  get_owner_address get_params get_payment_info get_pipe get_plugin_list get_pool get_pool_addr get_pool_address
  get_pool_address_no_settings get_pool_creator_address get_pool_creator_address_no_settings get_pool_data
  get_pool_full_data get_pool_info get_pool_status get_pool_type get_position_manager_contract_data get_pow_params
  get_price get_price_no_older_than get_price_unsafe get_proposal get_public_key get_public_keys
  get_referral_collection_address get_referral_data get_referral_vaults_whitelist get_reserves get_revoked_time
  get_root_pubkey get_router_data get_router_version get_royalty_params get_sale_data get_sale_info get_seed_pubkey
  get_seqno get_signers get_single_update_fee get_spot_price get_sqrt_p get_staking_status get_state get_static_data
  get_status get_storage_complaint_price get_storage_contract_address get_storage_contract_data get_storage_params
  get_stored_data get_subscription get_subscription_data get_subscription_info get_subwallet_id get_target_balances
  get_telemint_auction_config get_telemint_auction_state get_telemint_token_name get_terminal_amm_price get_timeout
  get_torrent_hash get_total_supply get_trade_fee get_unlocks_info get_update_fee get_validator_controller_data
  get_vamm_type get_vault_address get_vault_contract_data get_vault_data get_vault_type get_vault_whitelisted_addresses
  get_version get_vesting get_vesting_data get_wallet_addr get_wallet_address get_wallet_data get_wallet_id
  get_wallet_params get_wallet_state get_wallet_state_init_and_salt get_whitelist governance_action_is_consumed is_active
  is_claimed is_mintless is_plugin_installed is_signature_allowed is_stable is_stopped is_whitelisted jetton_wallet_code
  lazy_deployment_completed list_complaints list_nominators list_proposals list_votes owner participant_list
  participant_list_extended participates_in past_election_ids past_elections past_elections_list processed proposal_info
  proposal_storage_price query_id_is_processed royalty_info royalty_params seqno show_complaint stopped
  supported_interfaces
`
  .trim()
  .split(/\s+/);

const nameById: ReadonlyMap<number, string> = new Map(names.map((name) => [methodId(name), name]));

/** Id of a get-method by its name. */
export function methodId(name: string): number {
  return crc16(new TextEncoder().encode(name)) | 0x10000;
}

/** Name of a get-method by its id; undefined for an unknown id. */
export const methodName = (id: number): string | undefined => nameById.get(id);

/** Ids below are entry points of messages and of the clock, not get-methods. */
const METHOD_ID_MIN = 0x10000;

/** Get-methods among the ids of code, known names first. */
export function getMethods(
  ids: readonly number[],
): readonly { readonly id: number; readonly name: string | undefined }[] {
  return ids
    .filter((id) => id >= METHOD_ID_MIN)
    .map((id) => ({ id, name: methodName(id) }))
    .toSorted((one, other) => {
      if ((one.name === undefined) !== (other.name === undefined)) return one.name === undefined ? 1 : -1;
      return (one.name ?? '').localeCompare(other.name ?? '') || one.id - other.id;
    });
}
